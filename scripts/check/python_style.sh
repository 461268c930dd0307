#!/usr/bin/env bash
# python_style.sh [--fix]: checks format and rules of all Python of this tree, by ruff.toml, and the types of the conformance suite. --fix
# writes what ruff can mend by itself. scripts/python.sh checks the types of the Python package.
set -euo pipefail
cd "$(dirname "$0")/../.."
case ${1:-} in
  '') format=(--check) ;;
  --fix) format=() ;;
  *) sed -n '2,3s/^# //p' "$0" >&2; exit 64 ;;
esac
environment=$PWD/.build-python
requirements=Tests/Python/requirements.txt
if ! cmp -s "$requirements" "$environment/installed.txt"; then
  command -v python3 >/dev/null && python3 -c 'import venv, ensurepip' 2>/dev/null || scripts/install.sh python3 python3-venv
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
  cp "$requirements" "$environment/installed.txt"
fi
"$environment/bin/ruff" check --no-cache ${1:+"$1"}
"$environment/bin/ruff" format --no-cache "${format[@]}"
MYPY_CACHE_DIR=$environment/mypy "$environment/bin/mypy" --config-file Sources/conformance/mypy.ini Sources/conformance Tests/ConformanceTests

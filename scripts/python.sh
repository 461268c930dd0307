#!/usr/bin/env bash
# python.sh [OPTIONS]: checks the format of all Python, and of the Python package types, tests, and the wheel in an environment of its own.
# OPTIONS are for pytest.
# The tests use the waymarkd and waymark of WAYMARK_BIN, or of .build/release: build them before.
set -euo pipefail
cd "$(dirname "$0")/.."
package=Sources/python
environment=$PWD/.build-python
settings=$package/pyproject.toml
export PYTHONDONTWRITEBYTECODE=1

# It also makes the environment.
scripts/check/python_style.sh
PATH=$environment/bin:$PATH

export MYPYPATH=$package:$package/tools:Tests/Python MYPY_CACHE_DIR=$environment/mypy
mypy --config-file "$settings" "$package/waymark_nav" "$package/tools/waymark_nav_tools" Tests/Python
# Each is a program of its own, and some have the same names as modules of the tests.
for program in Docs/examples/python/*.py; do mypy --config-file "$settings" --no-error-summary "$program"; done
pyright --project "$settings" "$package/waymark_nav" "$package/tools/waymark_nav_tools" Docs/examples/python
python3 -m pytest --rootdir Tests/Python -c Tests/Python/pytest.ini Tests/Python "$@"

# The wheel, as a user installs it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pip wheel --quiet --no-deps --no-build-isolation --no-cache-dir --wheel-dir "$work" "./$package"
python3 -m venv "$work/fresh"
"$work/fresh/bin/pip" install --quiet --disable-pip-version-check --no-index "$work"/waymark_nav-*.whl
WAYMARK_PYTHON=$work/fresh/bin/python python3 -m pytest --rootdir Tests/Python -c Tests/Python/pytest.ini Tests/Python/test_examples.py
# pytest finds the plugin of the installed package.
pip install --quiet --disable-pip-version-check --no-index --no-deps --target "$work/site" "$work"/waymark_nav-*.whl
PYTHONPATH=$work/site python3 -m pytest --rootdir "$work" -c /dev/null -p no:cacheprovider --fixtures Docs/examples/python/test_drive.py \
  >"$work/fixtures.txt"
grep '^rig -- .*waymark_nav/rig/plugin.py' "$work/fixtures.txt"
ls "$work"/waymark_nav-*.whl

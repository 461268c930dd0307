#!/usr/bin/env bash
# inspector.sh [OPTIONS] [FILE | FILE::TEST ...]: checks the inspector's page in Debian's Chromium: form, types, size, every view and
# action, accessibility. OPTIONS are for pytest. Without FILE all of Tests/Inspector run; --part 2/5 runs every fifth test of them, from
# the third on, and those that run in every part.
# inspector.sh --format: formats the page's source instead.
# The page is served by a small server with fixtures; with WAYMARK_INSPECTOR_LINK by `waymark inspect --act`, which printed that link.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in chromium tsc; do
  command -v "$tool" >/dev/null || scripts/install.sh chromium node-typescript python3 python3-venv
done
environment=$PWD/.build-inspector
requirements=Tests/Inspector/requirements.txt
export PYTHONDONTWRITEBYTECODE=1

if ! cmp -s "$requirements" "$environment/installed.txt"; then
  rm -rf "$environment"
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
  cp "$requirements" "$environment/installed.txt"
fi
if [[ ${1:-} == --format ]]; then
  exec "$environment/bin/oxfmt" -c Tests/Inspector/.oxfmtrc.json Sources/WaymarkInspector/Resources/page
fi
tests=(Tests/Inspector)
for word; do
  [[ ${word%%::*} != */test_*.py || ! -e ${word%%::*} ]] || tests=()
done
"$environment/bin/python3" -m pytest -p no:cacheprovider --rootdir Tests/Inspector -c Tests/Inspector/pytest.ini "${tests[@]}" "$@"

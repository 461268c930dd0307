#!/usr/bin/env bash
# wheels.sh BUILD FOLDER: makes the wheels waymark_nav, of Python alone, and waymark_nav_tools, with the executable of the folder BUILD, which
# scripts/release/link.sh has linked. Needs python3-hatchling.
set -euo pipefail
[[ $# -eq 2 ]] || { sed -n '2,3s/^# //p' "$0" >&2; exit 64; }
build=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."
scripts/release/needed.py "$build/waymark" >/dev/null
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -r Sources/python/tools "$work/tools"
package=$work/tools/waymark_nav_tools
mkdir "$package/bin"
strip -o "$package/bin/waymark" "$build/waymark"
chmod 755 "$package/bin/waymark"
cp -r --no-preserve=mode "$build/waymark_WaymarkCommandLine.resources" "$build/waymark_WaymarkInspector.resources" \
    "$package/bin/"
cp Sources/python/waymark_nav/_version.py LICENSE "$work/tools/"
# Of the parts of others; the executable and the routes have other places than in Debian's package.
sed 's|^Files: usr/lib/waymark/|Files: waymark_nav_tools/bin/|' scripts/release/debian/copyright >"$package/copyright"

# The system's Python: another one that is found first need not have hatchling.
export PYTHONDONTWRITEBYTECODE=1
SOURCE_DATE_EPOCH=$(scripts/release/epoch.sh)
export SOURCE_DATE_EPOCH
for project in Sources/python "$work/tools"; do
  (cd "$project" && /usr/bin/python3 -m hatchling build -t wheel -d "$folder" >/dev/null)
done
chmod 644 "$folder"/waymark_nav*.whl
ls "$folder"/waymark_nav-"$(scripts/release/version.sh)"-*.whl "$folder"/waymark_nav_tools-"$(scripts/release/version.sh)"-*.whl

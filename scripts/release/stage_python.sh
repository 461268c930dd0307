#!/usr/bin/env bash
# stage_python.sh ROOT: copies the Python package below ROOT, where Debian's Python finds it. Needs python3-hatchling.
set -euo pipefail
[[ $# -eq 1 ]] || { sed -n '2s/^# //p' "$0" >&2; exit 64; }
mkdir -p "$1/usr/lib/python3/dist-packages"
target=$(realpath "$1/usr/lib/python3/dist-packages")
cd "$(dirname "$0")/../../Sources/python"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The system's Python: another one that is found first need not have hatchling.
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m hatchling build -t wheel -d "$work"
/usr/bin/python3 -m zipfile -e "$work"/waymark_nav-*.whl "$target"
# Debian has the text of the licence already.
rm -rf "$target"/waymark_nav-*.dist-info/{LICENSE,licenses,license_files}

#!/usr/bin/env bash
# alike.sh [-b BUILD]: packages this tree twice from one executable, that of the folder BUILD (default: .build/static), which
# scripts/release/link.sh has linked, and fails if a file of one is not that of the other, byte for byte. The second time is from a copy in
# another folder, without .git and without ignored files, with another umask, time zone, language, folder for temporary files and order of
# hashes. Prints the sums, and what differs within a package.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=.build/static
while getopts b: option; do
  case $option in
    b) build=$OPTARG ;;
    *) exit 64 ;;
  esac
done
build=$(realpath "$build")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{first,second,copy,temporary}

git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  # Files that were removed are still listed until that is committed.
  [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"
done | tar -c --null --files-from=- | tar -x --touch -C "$work/copy"
cp Package.resolved "$work/copy/"
SOURCE_DATE_EPOCH=$(scripts/release/epoch.sh)

scripts/package.sh -b "$build" "$work/first" >"$work/first.log" 2>&1 || { cat "$work/first.log"; exit 1; }
(
  cd "$work/copy"
  umask 027
  export SOURCE_DATE_EPOCH TZ=Pacific/Auckland LC_ALL=C PYTHONHASHSEED=1 TMPDIR=$work/temporary
  scripts/package.sh -b "$build" "$work/second" >"$work/second.log" 2>&1 || { cat "$work/second.log"; exit 1; }
)

# All that is in a package: names, modes, times and sums.
contents() {
  local parts
  parts=$(mktemp -d -p "$work")
  case $1 in
    *.deb)
      dpkg-deb --raw-extract "$1" "$parts"
      dpkg-deb --fsys-tarfile "$1" | tar --full-time -tvf -
      dpkg-deb --ctrl-tarfile "$1" | tar --full-time -tvf -
      ;;
    *.whl | *.pyz)
      python3 - "$1" "$parts" <<'PYTHON'
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1]) as archive:
    for info in archive.infolist():
        print(info.filename, oct(info.external_attr >> 16), info.date_time, info.compress_size)
    archive.extractall(sys.argv[2])
PYTHON
      ;;
    *) cp "$1" "$parts" ;;
  esac
  (cd "$parts" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum)
  rm -rf "$parts"
}

status=0
diff <(ls "$work/first") <(ls "$work/second") || status=1
for file in "$work"/first/*; do
  name=$(basename "$file")
  [[ -e $work/second/$name ]] || continue
  if cmp -s "$file" "$work/second/$name"; then
    (cd "$work/first" && sha256sum "$name")
    continue
  fi
  status=1
  echo "$name: two builds differ:" >&2
  diff <(contents "$file") <(contents "$work/second/$name") >&2 ||:
done
exit "$status"

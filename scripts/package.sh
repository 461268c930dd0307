#!/usr/bin/env bash
# package.sh [-b BUILD] [-d] [-v VERSION] [FOLDER]: builds waymark_VERSION_ARCHITECTURE.deb and python3-waymark-nav_VERSION_all.deb in
# FOLDER (default: .build-package) from this tree. -b packages the executable of the folder BUILD, which scripts/release/link.sh has linked,
# instead of building one. -d also builds waymark-dbgsym with the debugging symbols, which only fit this build: keep it for every
# released version. VERSION is scripts/release/version.sh with -1 by default.
# The wheels waymark_nav and waymark_nav_tools, waymark-conformance_VERSION.pyz, and waymark_VERSION.cdx.json, which lists the versions of
# everything that is in the executable, are made beside them.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$PWD
build=
version=$(scripts/release/version.sh)-1
symbols=noautodbgsym
while getopts b:dv: option; do
  case $option in
    b) build=$(realpath "$OPTARG") ;;
    d) symbols= ;;
    v) version=$OPTARG ;;
    *) exit 64 ;;
  esac
done
shift $((OPTIND - 1))
folder=${1:-.build-package}
SOURCE_DATE_EPOCH=$(scripts/release/epoch.sh)
export SOURCE_DATE_EPOCH
scripts/install.sh dpkg-dev debhelper dh-python python3 python3-hatchling

if [[ -z $build ]]; then
  if [[ -n $symbols ]]; then
    scripts/release/link.sh waymark
    build=$tree/.build/static
  else
    scripts/release/link.sh -g waymark
    build=$tree/.build-symbols/static
  fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/waymark"
cp -r scripts/release/debian "$work/waymark/debian"
cat >"$work/waymark/debian/changelog" <<CHANGELOG
waymark ($version) unstable; urgency=medium

  * The changes are in CHANGELOG.md beside this file.

 -- $(sed -n 's/^Maintainer: //p' scripts/release/debian/control)  $(LC_ALL=C date --utc -R --date "@$SOURCE_DATE_EPOCH")
CHANGELOG
(
  cd "$work/waymark"
  export WAYMARK_TREE=$tree WAYMARK_BUILD=$build DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-$symbols}
  dpkg-buildpackage --build=binary --no-sign
)
mkdir -p "$folder"
cp "$work"/waymark_"$version"_*.deb "$work"/python3-waymark-nav_"$version"_all.deb "$folder/"
[[ -n $symbols ]] || cp "$work"/waymark-dbgsym_"$version"_*deb "$folder/"
scripts/release/wheels.sh "$build" "$folder"
python3 scripts/conformance.py --archive "$folder/waymark-conformance_${version%-*}.pyz"
scripts/release/sbom.py "${version%-*}" "$(dirname "$build")" >"$folder/waymark_${version%-*}.cdx.json"
ls "$folder"/waymark_"$version"_*.deb "$folder"/python3-waymark-nav_"$version"_all.deb

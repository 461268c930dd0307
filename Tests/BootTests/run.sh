#!/usr/bin/env bash
# run.sh [-b BUILD] [-p PACKAGE] [-r ROOT] [CASE ...]: boots a machine for each case, and prints the result of each. The
# machine contains the programs of the folder BUILD (default: .build/debug), or the cases install PACKAGE. The machine is a copy of
# ROOT: by default this machine's root, but for a PACKAGE a plain Debian 12, which is created once, in .build/debian-12. CASEs are
# scripts; the default is all of cases/, and with a PACKAGE also those of cases/package/.
#
# Installs missing Debian packages. If no machine can be booted here, prints why all cases were skipped, and succeeds.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
tree=$(realpath "$here/../..")
build=$tree/.build/debug
package=
root=
while getopts b:p:r: option; do
  case $option in
    b) build=$(realpath "$OPTARG") ;;
    p) package=$(realpath "$OPTARG") ;;
    r) root=$(realpath "$OPTARG") ;;
    *) exit 64 ;;
  esac
done
shift $((OPTIND - 1))
cases=("$@")
if [[ ${#cases[@]} -eq 0 ]]; then
  cases=("$here"/cases/*.sh)
  [[ -z $package ]] || cases+=("$here"/cases/package/*.sh)
fi

stage=$(mktemp -d)
trap 'rm -rf "$stage" "$stage.log"' EXIT
chmod 755 "$stage"

skip() {
  echo "skipped all ${#cases[@]} boot tests: $*"
  exit 0
}

[[ $EUID -eq 0 ]] || skip "only root can boot a machine"
"$tree/scripts/install.sh" debootstrap systemd-container >"$stage.log" 2>&1 || { tail -3 "$stage.log"; skip "no systemd-container"; }

# plain_debian FOLDER: creates a plain Debian in FOLDER unless it exists. Python is for the example that observes.
plain_debian() {
  [[ ! -x $1/usr/bin/python3 ]] || return 0
  rm -rf "$1.part" "$1"
  debootstrap --variant=minbase --include=systemd-sysv,dbus,man-db,python3 bookworm "$1.part" >"$stage.log" 2>&1 || {
    tail -3 "$stage.log"
    return 1
  }
  mv "$1.part" "$1"
}

options=()
if [[ -n $package ]]; then
  options+=(-b "$package:/waymark.deb")
  if [[ -z $root ]]; then
    root=$tree/.build/debian-12
    plain_debian "$root" || skip "debootstrap could not make a plain Debian 12"
  fi
else
  "$tree/scripts/stage.sh" "$build" "$stage"
  # A debug build uses the toolchain's libraries, which the unit's sandbox does not allow by default.
  runtime=$(ldd "$build/waymarkd" | sed -n 's,.*=> \(/.*\)/libswiftCore.so .*,\1,p')
  if [[ -n $runtime ]]; then
    mkdir -p "$stage/etc/systemd/system/waymarkd.service.d"
    printf '[Service]\nExecPaths=%s\n' "$runtime" >"$stage/etc/systemd/system/waymarkd.service.d/toolchain.conf"
  fi
fi
[[ -z $root ]] || options+=(-r "$root")

failed=0
for case in "${cases[@]}"; do
  name=$(basename "$case" .sh)
  status=0
  began=$SECONDS
  output=$("$here/boot.sh" "${options[@]}" "$stage" "$case" 2>&1) || status=$?
  case $status in
    0) echo "ok $name ($((SECONDS - began)) s)" ;;
    77) skip "$output" ;;
    *) echo "FAILED $name ($((SECONDS - began)) s)"; failed=1 ;;
  esac
  [[ -z $output ]] || sed "s/^/    /" <<<"$output"
done
exit "$failed"

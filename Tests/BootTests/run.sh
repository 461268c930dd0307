#!/usr/bin/env bash
# run.sh [-b BUILD] [-p PACKAGE] [-r ROOT] [CASE ...]: boots a machine for each of the cases, and says what held. Inside is
# what the folder BUILD of a build holds (default: .build/debug), or PACKAGE, which the cases install; ROOT is what the
# machine is a copy of (default: this machine's root). CASEs are scripts; without them, all in cases/, and with a PACKAGE
# those in cases/package/ too. Where no machine can be booted, says so and succeeds.
#
# A plain Debian 12 as ROOT: debootstrap --variant=minbase --include=systemd-sysv,dbus,libprotobuf-c1,man-db bookworm ROOT
set -euo pipefail
here=$(realpath "$(dirname "$0")")
tree=$(realpath "$here/../..")
build=$tree/.build/debug
package=
options=()
while getopts b:p:r: option; do
  case $option in
    b) build=$(realpath "$OPTARG") ;;
    p) package=$(realpath "$OPTARG") ;;
    r) options+=(-r "$(realpath "$OPTARG")") ;;
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
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
if [[ -n $package ]]; then
  options+=(-b "$package:/waymark.deb")
else
  "$tree/scripts/stage.sh" "$build" "$stage"
  # An ordinary build uses the toolchain's libraries, which the unit does not expect.
  runtime=$(ldd "$build/waymarkd" | sed -n 's,.*=> \(/.*\)/libswiftCore.so .*,\1,p')
  if [[ -n $runtime ]]; then
    mkdir -p "$stage/etc/systemd/system/waymarkd.service.d"
    printf '[Service]\nExecPaths=%s\n' "$runtime" >"$stage/etc/systemd/system/waymarkd.service.d/toolchain.conf"
  fi
fi

failed=0
for case in "${cases[@]}"; do
  name=$(basename "$case" .sh)
  status=0
  output=$("$here/boot.sh" "${options[@]}" "$stage" "$case" 2>&1) || status=$?
  case $status in
    0) echo "ok $name" ;;
    77) echo "skipped $name" ;;
    *) echo "FAILED $name"; failed=1 ;;
  esac
  [[ -z $output ]] || sed "s/^/    /" <<<"$output"
done
exit "$failed"

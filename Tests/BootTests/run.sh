#!/usr/bin/env bash
# run.sh [BUILD [CASE ...]]: boots a machine for each of the cases (default: all but those in cases/package) with what the
# folder BUILD (default: .build/debug) holds installed, and says what held. Where no machine can be booted, says so and
# succeeds.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
tree=$(realpath "$here/../..")
build=${1:-$tree/.build/debug}
shift || true
cases=("$@")
[[ ${#cases[@]} -gt 0 ]] || cases=("$here"/cases/*.sh)

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
chmod 755 "$stage"
"$tree/scripts/stage.sh" "$build" "$stage"
# An ordinary build uses the toolchain's libraries, which the unit does not expect.
if runtime=$(ldd "$build/waymarkd" | sed -n 's,.*=> \(/.*\)/libswiftCore.so .*,\1,p') && [[ -n $runtime ]]; then
  mkdir -p "$stage/etc/systemd/system/waymarkd.service.d"
  printf '[Service]\nExecPaths=%s\n' "$runtime" >"$stage/etc/systemd/system/waymarkd.service.d/toolchain.conf"
fi

failed=0
for case in "${cases[@]}"; do
  name=$(basename "$case" .sh)
  status=0
  output=$("$here/boot.sh" "$stage" "$case" 2>&1) || status=$?
  case $status in
    0) echo "ok $name" ;;
    77) echo "skipped $name" ;;
    *) echo "FAILED $name"; failed=1 ;;
  esac
  [[ -z $output ]] || sed "s/^/    /" <<<"$output"
done
exit "$failed"

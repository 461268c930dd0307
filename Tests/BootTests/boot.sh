#!/usr/bin/env bash
# boot.sh [-r ROOT] [-b FILE:PATH] STAGE CASE: boots a real systemd on a throwaway copy of ROOT (default: this machine's
# root) with the files of the folder STAGE on top, runs the script CASE inside as root when systemd is up, and exits with its
# status. The copy is discarded. Inside, this tree is /waymark, read-only; -b mounts another FILE at PATH; the only network is
# loopback. Prints the output of CASE, and the journal if it failed.
#
# Exit status 77 means that no machine can be booted here; the reason is printed. A signal that ends this script ends the machine.
set -euo pipefail
lower=/
binds=()
while getopts r:b: option; do
  case $option in
    r) lower=$OPTARG ;;
    b) binds+=("--bind-ro=$OPTARG") ;;
    *) exit 64 ;;
  esac
done
shift $((OPTIND - 1))
[[ $# -eq 2 ]] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 64; }
stage=$1
case=$2
tree=$(realpath "$(dirname "$0")/../..")

unable() { echo "$*"; exit 77; }
[[ $EUID -eq 0 ]] || unable "only root can boot a machine"
command -v systemd-nspawn >/dev/null || unable "systemd-nspawn is missing: apt-get install systemd-container"

# Runs itself again as the first process of new namespaces of mounts and processes. When that process ends, for whatever reason, the kernel
# kills all others there, the machine's too, and unmounts everything.
if [[ -z ${BOOT_BASE-} ]]; then
  BOOT_BASE=$(mktemp -d /var/tmp/waymark-boot.XXXXXX)
  export BOOT_BASE
  end() {
    # unshare ignores SIGTERM. When it is killed, so is the first process of the namespaces.
    # shellcheck disable=SC2046 # There may be none.
    { kill -KILL $(jobs -pr); wait; } 2>/dev/null || true
    rmdir "$BOOT_BASE"
  }
  trap end EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  # In the background, because a trap waits for the end of a process in front.
  unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
    "$0" -r "$lower" "${binds[@]/#--bind-ro=/-b}" "$stage" "$case" &
  status=0
  wait $! || status=$?
  exit "$status"
fi

mount -t tmpfs tmpfs "$BOOT_BASE" || unable "nothing can be mounted here"
mkdir "$BOOT_BASE"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$BOOT_BASE/upper,workdir=$BOOT_BASE/work" "$BOOT_BASE/root" ||
  unable "an overlay of $lower cannot be mounted here"
root=$BOOT_BASE/root
tar -C "$stage" -c . | tar -C "$root" -x --no-same-owner --keep-directory-symlink

mkdir "$root/boot-test"
cp "$case" "$root/boot-test/case"
cat >"$root/boot-test/run" <<'RUN'
#!/bin/bash
export HOME=/root
cd /
bash /boot-test/case >/boot-test/output 2>&1
status=$?
journalctl --boot --no-pager --output short-precise >/boot-test/journal 2>&1
echo "$status" >/boot-test/status
systemctl --no-block exit 0
RUN
chmod 755 "$root/boot-test/run"

# No cleanup inside, because the copy is discarded.
ln -sf /dev/null "$root/etc/tmpfiles.d/tmp.conf"
# Container images prevent packages from starting services.
rm -f "$root/usr/sbin/policy-rc.d"

# A separate target, so that other services of the machine are not started.
cat >"$root/etc/systemd/system/boot-test.target" <<'UNIT'
[Unit]
Requires=basic.target
After=basic.target
Wants=boot-test.service
UNIT
cat >"$root/etc/systemd/system/boot-test.service" <<'UNIT'
[Unit]
After=basic.target dbus.socket
Wants=dbus.socket
[Service]
ExecStart=/boot-test/run
UNIT

status=0
SYSTEMD_NSPAWN_TMPFS_TMP=0 timeout -k 5 "${BOOT_TIMEOUT:-400}" systemd-nspawn --quiet --directory "$root" --private-network \
  --link-journal=no --register=no --keep-unit --bind-ro="$tree:/waymark" "${binds[@]}" --boot \
  systemd.unit=boot-test.target >"$BOOT_BASE/console" 2>&1 </dev/null || status=$?
if [[ ! -f $root/boot-test/status ]]; then
  # If systemd never started, this machine cannot boot one; if it started and was too slow, that is a failure.
  grep -q 'systemd .* running in system mode' "$BOOT_BASE/console" || {
    tail -5 "$BOOT_BASE/console"
    unable "systemd does not boot here (status $status)"
  }
  echo "the case did not end within ${BOOT_TIMEOUT:-400} s; it printed:"
  cat "$root/boot-test/output" "$BOOT_BASE/console"
  exit 1
fi
cat "$root/boot-test/output"
status=$(<"$root/boot-test/status")
[[ $status == 0 ]] || { echo "-- journal"; cat "$root/boot-test/journal"; }
exit "$status"

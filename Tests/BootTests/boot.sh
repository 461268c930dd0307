#!/usr/bin/env bash
# boot.sh [-r ROOT] [-b FILE:PATH] STAGE CASE: boots a real systemd on a throwaway copy of ROOT (default: this machine's
# root), with the files of the folder STAGE on top, runs the script CASE inside as root once systemd is up, and exits with
# its status. Nothing that happens inside stays. This tree is /waymark inside, read-only; -b shows a further FILE as PATH;
# the only network is loopback. Prints what CASE prints, and the journal if it failed.
#
# Exit status 77, with the reason: a machine cannot be booted here.
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

# In a mount namespace of its own: what is mounted here goes when this script does.
if [[ -z ${BOOT_BASE-} ]]; then
  BOOT_BASE=$(mktemp -d /var/tmp/waymark-boot.XXXXXX)
  trap 'rmdir "$BOOT_BASE"' EXIT
  export BOOT_BASE
  status=0
  unshare --mount --propagation private "$0" -r "$lower" "${binds[@]/#--bind-ro=/-b}" "$stage" "$case" || status=$?
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

# Nothing is to be cleaned up in what is thrown away.
ln -sf /dev/null "$root/etc/tmpfiles.d/tmp.conf"
# Images for containers forbid packages to start their services.
rm -f "$root/usr/sbin/policy-rc.d"

# A target of our own: what else is installed on the machine is not started.
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
  # A systemd that never came up is this machine's inability; one that did and was too slow is a failure.
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

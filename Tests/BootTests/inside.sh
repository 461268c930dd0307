# Functions for the cases; sourced inside the booted machine.
set -euo pipefail
trap 'echo "failed at line $LINENO: $BASH_COMMAND"' ERR

routes=/usr/lib/waymark/waymark_WaymarkCommandLine.resources/Resources/routes
route=$routes/vaduz-balzers.json
vehicle=unix:/run/waymark/vehicle.sock
navigation=unix:/run/waymark/navigation.sock
observe=unix:/run/waymark/observe.sock
sockets=(waymarkd-vehicle.socket waymarkd-navigation.socket waymarkd-observe.socket)

# Installs the package if there is one, otherwise does the same with the staged files: opens the sockets, and does not start the
# service. Adds ordinary users: three that may connect, and one that may not.
install_service() {
  if [[ -e /waymark.deb ]]; then
    dpkg --install /waymark.deb >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; return 1; }
  else
    systemd-sysusers
    systemd-tmpfiles --create /usr/lib/tmpfiles.d/waymark.conf
    systemctl daemon-reload
    systemctl start "${sockets[@]}"
  fi
  useradd --groups waymark-vehicle car
  useradd --groups waymark-navigation phone
  useradd --groups waymark-observe technician
  useradd stranger
}

# Opens the vehicles' socket to TCP on this machine, as operations.md says.
open_loopback() {
  install -d /etc/systemd/system/waymarkd-vehicle.socket.d
  printf '[Socket]\nListenStream=127.0.0.1:7227\nListenStream=[::1]:7227\n' >/etc/systemd/system/waymarkd-vehicle.socket.d/loopback.conf
  systemctl daemon-reload
  systemctl --quiet stop "${sockets[@]}"
  systemctl start "${sockets[@]}"
}

as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"; }

cluster() { as car waymark cluster --connect "$vehicle" --id car --json --accept-prompts yes "$@"; }
navigate() { as phone waymark navigate --connect "$navigation" --vehicle car --route "$route" "$@"; }

# start_drive SPEED [ADDRESS [OPTION...]]: a cluster, connected to ADDRESS (default: the Unix socket), and a client that guides
# it, both in the background; returns when guidance has started. Their output is in /tmp/cluster and /tmp/navigate.
start_drive() {
  rm -f /tmp/cluster /tmp/navigate  # Of the drive before.
  as car waymark cluster --connect "${2:-$vehicle}" --id car --json --accept-prompts yes --until finished "${@:3}" >/tmp/cluster 2>&1 &
  cluster=$!
  eventually 30 has /tmp/cluster '"connected"'
  navigate --speed "$1" >/tmp/navigate 2>&1 &
  client=$!
  eventually 30 under_way
}

# start_observer: an observer of everything, in the background; returns when it holds the state. Its output is in /tmp/observer, and
# end_observer ends it.
start_observer() {
  rm -f /tmp/commands
  mkfifo /tmp/commands
  as technician python3 -B /usr/share/doc/waymark/examples/observe.py "$observe" </tmp/commands >/tmp/observer 2>&1 &
  observer=$!
  exec {commands}>/tmp/commands
  eventually 30 has /tmp/observer 'holds '
}
end_observer() {
  echo quit >&"$commands"
  exec {commands}>&-
  wait "$observer"
}

# Whether the cluster has passed the first maneuver. A slow cluster does not see every maneuver.
under_way() { grep -qsE '"upcomingManeuvers":\[[1-9]' /tmp/cluster; }

# end_drive: waits until both reach the end of the drive.
end_drive() {
  wait "$cluster"
  wait "$client"
}

# eventually SECONDS COMMAND...: waits until COMMAND succeeds.
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || { echo "never came true: $*"; return 1; }
    sleep 0.05
  done
}

# equal NAME ACTUAL EXPECTED
equal() { [[ $2 == "$3" ]] || { echo "$1 is $2, not $3"; return 1; }; }

property() { systemctl show --value --property "$1" "${2:-waymarkd.service}"; }

state() { property ActiveState "$@"; }
is() { [[ $(state) == "$1" ]]; }

# refused COMMAND...: COMMAND fails quickly.
refused() {
  local status=0
  "$@" >/tmp/refused 2>&1 || status=$?
  tail -n 1 /tmp/refused
  [[ $status != 0 && $status != 124 ]]
}

# has FILE TEXT
has() { grep -qsF -- "$2" "$1"; }

# entries OPTION...: entries of the journal, after it was synchronized.
entries() { journalctl --sync; journalctl --boot --no-pager "$@"; }

journal() { entries --output cat --unit waymarkd.service; }
journal_has() { journal | grep -F -- "$1" >/dev/null; }

# Lines of the service that are not the daemon's own, but from a library or a shell.
foreign_lines() { entries --output cat _SYSTEMD_UNIT=waymarkd.service _TRANSPORT=stdout; }

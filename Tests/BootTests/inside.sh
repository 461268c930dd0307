# What the cases use; sourced inside the booted machine.
set -euo pipefail
trap 'echo "failed at line $LINENO: $BASH_COMMAND"' ERR

routes=/usr/lib/waymark/waymark_WaymarkCommandLine.resources/Resources/routes
route=$routes/vaduz-balzers.json
vehicle=unix:/run/waymark/vehicle.sock
navigation=unix:/run/waymark/navigation.sock
sockets=(waymarkd-vehicle.socket waymarkd-navigation.socket)

# Installs the package if there is one, else does what it would do with what lies there already: the sockets listen, the
# service is not started. Adds ordinary users: two who may connect, one who may not.
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
  useradd stranger
}

as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"; }

cluster() { as car waymark cluster --connect "$vehicle" --id car --json --accept-prompts yes "$@"; }
navigate() { as phone waymark navigate --connect "$navigation" --vehicle car --route "$route" "$@"; }

# start_drive SPEED [ADDRESS [OPTION...]]: a cluster, connected to ADDRESS (default: the Unix socket), and a client that guides
# it, both in the background; returns when they are under way. Their output is in /tmp/cluster and /tmp/navigate.
start_drive() {
  as car waymark cluster --connect "${2:-$vehicle}" --id car --json --accept-prompts yes --until finished "${@:3}" >/tmp/cluster 2>&1 &
  cluster=$!
  eventually 30 has /tmp/cluster '"connected"'
  navigate --speed "$1" >/tmp/navigate 2>&1 &
  client=$!
  eventually 30 under_way
}

# Whether the first maneuver is behind the cluster. Whoever is slow does not see each of them come up.
under_way() { grep -qsE '"upcomingManeuvers":\[[1-9]' /tmp/cluster; }

# end_drive: both come to the end of the drive.
end_drive() {
  wait "$cluster"
  wait "$client"
}

# eventually SECONDS COMMAND...: COMMAND comes true in time.
eventually() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || { echo "never came true: $*"; return 1; }
    sleep 0.05
  done
}

# equal WHAT IS SHOULD
equal() { [[ $2 == "$3" ]] || { echo "$1 is $2, not $3"; return 1; }; }

property() { systemctl show --value --property "$1" "${2:-waymarkd.service}"; }

state() { property ActiveState "$@"; }
is() { [[ $(state) == "$1" ]]; }

# refused COMMAND...: COMMAND fails, and does not take long about it.
refused() {
  local status=0
  "$@" >/tmp/refused 2>&1 || status=$?
  tail -n 1 /tmp/refused
  [[ $status != 0 && $status != 124 ]]
}

# has FILE TEXT
has() { grep -qsF -- "$2" "$1"; }

# entries OPTION...: of the journal, once all that was said before has been written down.
entries() { journalctl --sync; journalctl --boot --no-pager "$@"; }

journal() { entries --output cat --unit waymarkd.service; }
journal_has() { journal | grep -F -- "$1" >/dev/null; }

# What the service has said that is not the daemon's own: from a library, or a shell.
foreign_lines() { entries --output cat _SYSTEMD_UNIT=waymarkd.service _TRANSPORT=stdout; }

# What the cases use; sourced inside the booted machine.
set -euo pipefail
trap 'echo "failed at line $LINENO: $BASH_COMMAND"' ERR

routes=/usr/lib/waymark/waymark_WaymarkCommandLine.resources/Resources/routes
route=$routes/vaduz-balzers.json
vehicle=unix:/run/waymark/vehicle.sock
navigation=unix:/run/waymark/navigation.sock

# Installs the package if there is one, else does what it would do with what lies there already; the service is stopped
# afterwards. Adds ordinary users: two who may connect, one who may not.
install_service() {
  if [[ -e /waymark.deb ]]; then
    dpkg --install /waymark.deb >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; return 1; }
    systemctl stop waymarkd
  else
    systemd-sysusers
    systemd-tmpfiles --create /usr/lib/tmpfiles.d/waymark.conf
    systemctl daemon-reload
  fi
  useradd --groups waymark-vehicle car
  useradd --groups waymark-navigation phone
  useradd stranger
}

as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"; }

cluster() { as car waymark cluster --connect "$vehicle" --id car --json "$@"; }
navigate() { as phone waymark navigate --connect "$navigation" --vehicle car --route "$route" "$@"; }

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

# refused COMMAND...: COMMAND fails, and does not take long about it.
refused() {
  local status=0
  "$@" >/tmp/refused 2>&1 || status=$?
  tail -n 1 /tmp/refused
  [[ $status != 0 && $status != 124 ]]
}

# has FILE TEXT
has() { grep -qsF -- "$2" "$1"; }

journal() { journalctl --boot --no-pager --output cat --unit waymarkd.service; }
journal_has() { journal | grep -F -- "$1" >/dev/null; }

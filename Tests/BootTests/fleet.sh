# A fleet of twenty vehicles with several endpoints each, and two clients, for cases that disturb the service during a drive;
# sourced by them.
#
# Vehicles with odd numbers are guided by one client over Unix sockets, the others by another client over TCP. The first endpoint
# of a vehicle prints everything that it receives, the others what they show.
. /waymark/Tests/BootTests/inside.sh
install_service
open_loopback
# A client connects over TCP, to a socket that the service opens itself.
cat >>/etc/waymark/waymarkd.yaml <<'YAML'
  - address: tcp:127.0.0.1:7228
    roles: [navigation]
YAML
install -D -m 644 /usr/share/doc/waymark/examples/waymarkd-network.conf /etc/systemd/system/waymarkd.service.d/network.conf
systemctl daemon-reload

show() { as car waymark cluster --accept-prompts yes --until finished "$@"; }
guide() { as phone waymark navigate --route "$route" "$@"; }

# start_fleet ENDPOINTS SPEED [PRINTING]: starts the vehicles with this number of endpoints, and returns when all drives have begun.
# PRINTING is the number of vehicles whose first endpoint prints everything, which takes much processor time; default: all.
start_fleet() {
  endpoints=$1
  telling=${3:-20}
  clusters=() clients=()
  local id endpoint address odd=() even=()
  # The reference: an undisturbed drive.
  show --connect "$vehicle" --id reference --json --states full >/tmp/reference 2>&1 &
  clusters+=($!)
  eventually 30 has /tmp/reference '"connected"'
  guide --id reference --connect "$navigation" --vehicle reference --speed 2000 >/tmp/navigate-reference 2>&1
  wait "${clusters[@]}"
  clusters=()

  for id in {1..20}; do
    address=$vehicle
    if ((id % 2)); then odd+=(--vehicle "$id"); else even+=(--vehicle "$id") address=tcp:127.0.0.1:7227; fi
    for endpoint in $(seq "$endpoints"); do
      local kind=()
      ((endpoint > 1 || id > telling)) || kind=(--json --states full)
      show --connect "$address" --id "$id" --endpoint "$endpoint" "${kind[@]}" >"/tmp/cluster-$id-$endpoint" 2>&1 &
      clusters+=($!)
    done
  done
  eventually 60 fleet_is "no sessions, no clients"
  guide --id one --connect "$navigation" --speed "$2" "${odd[@]}" >/tmp/navigate-1 2>&1 &
  clients+=($!)
  guide --id two --connect tcp:127.0.0.1:7228 --speed "$2" "${even[@]}" >/tmp/navigate-2 2>&1 &
  clients+=($!)
}

# fleet_is TEXT: the status counts all vehicles, followed by TEXT.
fleet_is() { [[ $(property StatusText) == "20 vehicles with $((20 * endpoints)) endpoints, $1" ]]; }

# fleet_reaches MANEUVER: this maneuver, or a later one, is the next of the first vehicle.
fleet_reaches() {
  local seen
  seen=$(sed -n 's/.*"upcomingManeuvers":\[\([0-9]*\).*/\1/p' /tmp/cluster-1-1 | tail -1)
  ((${seen:-0} >= $1))
}

# end_fleet: waits until all drives end. All endpoints hold the same then, and exactly what the client published, as in an
# undisturbed drive.
end_fleet() {
  local process first id should
  for process in "${clients[@]}" "${clusters[@]}"; do wait "$process"; done
  should=$(holds /tmp/reference | without_chance)
  [[ $should == *'"maneuvers":[{'*'"segments":[{'*'"trip":{'* ]]
  for first in 1 2; do
    equal "state of $first" "$(holds "/tmp/cluster-$first-1" | without_chance)" "$should"
    for id in $(seq $first 2 "$telling"); do
      equal "state of $id" "$(holds "/tmp/cluster-$id-1")" "$(holds "/tmp/cluster-$first-1")"
    done
    has "/tmp/navigate-$first" 'drive 1: arrived'
  done
  equal "endpoints that saw the end" "$(grep -l -e '^arrived' -e '"endReason":"finished"' /tmp/cluster-*-* | wc -l)" \
    $((20 * endpoints))
  equal "foreign lines" "$(foreign_lines)" ""
}

# holds FILE: the last state of a cluster before guidance ended, without session ids and times.
holds() {
  grep '"kind":"state"' "$1" | grep -v '"phase":"ended"' | tail -1 | sed 's/"client":"[^"]*",//; s/"session":[0-9]*,//; s/"time":"[^"]*",//'
}

# Removes the differences between two drives: the last estimates for each maneuver, and the number of published routes.
without_chance() { sed 's/"maneuverEstimates":\[[^]]*\],//; s/"generation":[0-9]*,//'; }

# comes_back NUMBER: waits until the service has restarted itself for the NUMBERth time and all peers have resumed. Prints how long
# it was away.
comes_back() {
  restarted() { [[ $(property NRestarts) == "$1" && $(state) == active ]]; }
  eventually 30 restarted "$1"
  local exited ready away
  exited=$(entries --unit waymarkd --output json --output-fields MESSAGE | grep -F 'Main process exited' | tail -1 |
    sed 's/.*"__MONOTONIC_TIMESTAMP":"\([0-9]*\)".*/\1/')
  ready=$(property ActiveEnterTimestampMonotonic)
  away=$(((ready - exited) / 1000))
  echo "ready again $away ms after it ended; $(property RestartUSec) of them are RestartSec="
  # RestartSec= is half a second; the rest is a reserve for a busy machine.
  ((away >= 400 && away < 5000))
  eventually 60 fleet_is "2 sessions, 2 clients"
}

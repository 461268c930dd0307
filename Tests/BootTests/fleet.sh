# A fleet in mid-drive: twenty vehicles with several endpoints each, and two clients, for the cases in which something happens to
# the service meanwhile; sourced by them.
#
# Those with odd numbers are guided by one client and connect over Unix, the others by another one and over TCP. The first
# endpoint of a vehicle tells all that it receives, the others what they show.
. /waymark/Tests/BootTests/inside.sh
install_service
# A client comes over TCP, through a socket that the service opens itself.
cat >>/etc/waymark/waymarkd.yaml <<'YAML'
  - address: tcp:127.0.0.1:7228
    roles: [navigation]
YAML
install -D -m 644 /usr/share/doc/waymark/examples/waymarkd-network.conf /etc/systemd/system/waymarkd.service.d/network.conf
systemctl daemon-reload

show() { as car waymark cluster --accept-prompts yes --until finished "$@"; }
guide() { as phone waymark navigate --route "$route" "$@"; }

# start_fleet ENDPOINTS SPEED [TELLING]: returns when all have set out, each vehicle with so many endpoints. TELLING is how many
# of the vehicles have a first one that tells all, which takes most of a processor's time; without it: all.
start_fleet() {
  endpoints=$1
  telling=${3:-20}
  clusters=() clients=()
  local id endpoint address odd=() even=()
  # What a drive that nothing happens to comes to.
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

# fleet_is TEXT: all vehicles are there, and so much else.
fleet_is() { [[ $(property StatusText) == "20 vehicles with $((20 * endpoints)) endpoints, $1" ]]; }

# fleet_reaches MANEUVER: this one is ahead of the first vehicle, or a later one.
fleet_reaches() {
  local seen
  seen=$(sed -n 's/.*"upcomingManeuvers":\[\([0-9]*\).*/\1/p' /tmp/cluster-1-1 | tail -1)
  ((${seen:-0} >= $1))
}

# end_fleet: everybody comes to the end of the drive. What they hold there is the same, and what the client has published: as if
# nothing had happened.
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

# holds FILE: what a cluster held last before guidance was over, but for the session's own, and when.
holds() {
  grep '"kind":"state"' "$1" | grep -v '"phase":"ended"' | tail -1 | sed 's/"client":"[^"]*",//; s/"session":[0-9]*,//; s/"time":"[^"]*",//'
}

# Leaves out what two drives do not agree on: how far it was to each maneuver when the client said so last, and how often it
# had to publish its route.
without_chance() { sed 's/"maneuverEstimates":\[[^]]*\],//; s/"generation":[0-9]*,//'; }

# comes_back NUMBER: after having ended for the NUMBERth time, the service is there again by itself, and everybody with all that
# they had. Says how long it was away.
comes_back() {
  restarted() { [[ $(property NRestarts) == "$1" && $(state) == active ]]; }
  eventually 30 restarted "$1"
  local exited ready away
  exited=$(entries --unit waymarkd --output json --output-fields MESSAGE | grep -F 'Main process exited' | tail -1 |
    sed 's/.*"__MONOTONIC_TIMESTAMP":"\([0-9]*\)".*/\1/')
  ready=$(property ActiveEnterTimestampMonotonic)
  away=$(((ready - exited) / 1000))
  echo "ready again $away ms after it ended; $(property RestartUSec) of them are RestartSec="
  # RestartSec= is half a second; the rest is room for a busy machine.
  ((away >= 400 && away < 5000))
  eventually 60 fleet_is "2 sessions, 2 clients"
}

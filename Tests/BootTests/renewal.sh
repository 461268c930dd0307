# What the cases about a new process in mid-drive share. They define `renew NUMBER`, which has one take the place of the
# other, and then source this.
. /waymark/Tests/BootTests/inside.sh
install_service
# A client comes over TCP, through a socket that the service opens itself.
cat >>/etc/waymark/waymarkd.yaml <<'YAML'
  - address: tcp:127.0.0.1:7228
    roles: [navigation]
YAML
install -D -m 644 /usr/share/doc/waymark/examples/waymarkd-network.conf /etc/systemd/system/waymarkd.service.d/network.conf
systemctl daemon-reload
systemctl restart waymarkd

# Those with odd numbers are guided by one client and connect over Unix, the others by another one and over TCP. The first
# endpoint of each tells all that it receives, the others what they show.
endpoints=10
odd=() even=() clusters=()
for id in {1..20}; do
  address=$vehicle
  if ((id % 2)); then odd+=(--vehicle "$id"); else even+=(--vehicle "$id") address=tcp:127.0.0.1:7227; fi
  for endpoint in $(seq $endpoints); do
    kind=()
    ((endpoint > 1)) || kind=(--json)
    as car waymark cluster --connect "$address" --id "$id" --endpoint "$endpoint" --until finished "${kind[@]}" \
      >"/tmp/cluster-$id-$endpoint" 2>&1 &
    clusters+=($!)
  done
done
all_there() { [[ $(property StatusText) == "20 vehicles with $((20 * endpoints)) endpoints,"* ]]; }
eventually 60 all_there
guide() { as phone waymark navigate --route "$route" --speed 20 "$@"; }
guide --id one --connect "$navigation" "${odd[@]}" >/tmp/navigate-1 2>&1 &
clients=($!)
guide --id two --connect tcp:127.0.0.1:7228 "${even[@]}" >/tmp/navigate-2 2>&1 &
clients+=($!)

for number in 1 2 3; do
  eventually 30 grep -qsE "\"upcomingManeuvers\":\[($number|[$((number + 1))-9]|1[0-9])" /tmp/cluster-1-1
  before=$(property MainPID)
  renew "$number"
  [[ $(property MainPID) != "$before" ]]
  # Taken out of the store.
  empty() { [[ $(property NFileDescriptorStore) == 0 ]]; }
  eventually 5 empty
done
[[ ! -e /run/waymarkd/restart ]]
equal renewals "$(journal | grep -c "went on with the connections of the process before: count=$((20 * endpoints + 2)) ")" 3
journal | grep -F 'left everything' | tail -1
# Nobody came a second time.
equal admissions "$(journal | grep -c 'a peer was admitted')" $((20 * endpoints + 2))
for process in "${clients[@]}" "${clusters[@]}"; do wait "$process"; done

# One snapshot each, every number once and in order; all of a drive have seen, shown and held the same.
numbers() { sed -n 's/.*"kind":"message".*"sequence":\([0-9]*\).*/\1/p' "$1"; }
holds() { grep '"kind":"state"' "$1" | tail -1; }
for first in 1 2; do
  numbers "/tmp/cluster-$first-1" >/tmp/numbers
  (($(uniq /tmp/numbers | wc -l) > 50))
  sort -n -c /tmp/numbers
  for id in $(seq $first 2 20); do
    file=/tmp/cluster-$id-1
    equal "connections of $file" "$(grep -c '"state":"connected"' "$file")" 1
    equal "snapshots of $file" "$(grep -c '"message":"snapshotBegin"' "$file")" 1
    numbers "$file" | cmp - /tmp/numbers
    equal "state of $file" "$(holds "$file")" "$(holds "/tmp/cluster-$first-1")"
    for endpoint in $(seq 2 $endpoints); do cmp "/tmp/cluster-$id-$endpoint" "/tmp/cluster-$first-2"; done
  done
  has "/tmp/cluster-$first-2" 'guidance is over: finished'
done

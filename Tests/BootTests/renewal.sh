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

# Two hundred of them would keep an unoptimised build too busy.
endpoints=10
[[ -e /waymark.deb ]] || endpoints=1
vehicles=({1..20})

# Those with odd numbers are guided by one client and connect over Unix, the others by another one and over TCP.
odd=() even=() clusters=()
for id in "${vehicles[@]}"; do
  address=$vehicle
  if ((id % 2)); then odd+=(--vehicle "$id"); else even+=(--vehicle "$id") address=tcp:127.0.0.1:7227; fi
  for endpoint in $(seq $endpoints); do
    as car waymark cluster --connect "$address" --id "$id" --endpoint "$endpoint" --json --until finished \
      >"/tmp/cluster-$id-$endpoint" 2>&1 &
    clusters+=($!)
  done
done
for file in $(seq -f '/tmp/cluster-%g' 20); do
  for endpoint in $(seq $endpoints); do eventually 60 has "$file-$endpoint" '"connected"'; done
done
guide() { as phone waymark navigate --route "$route" --speed 100 "$@"; }
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
for process in "${clients[@]}" "${clusters[@]}"; do wait "$process"; done

# One connection each, one snapshot, every number once and in order; all of a drive have seen the same and hold the same.
numbers() { sed -n 's/.*"kind":"message".*"sequence":\([0-9]*\).*/\1/p' "$1"; }
holds() { grep '"kind":"state"' "$1" | tail -1; }
for first in /tmp/cluster-1-1 /tmp/cluster-2-1; do
  numbers "$first" >/tmp/numbers
  (($(uniq /tmp/numbers | wc -l) > 50))
  sort -n -c /tmp/numbers
  for id in $(seq "${first:13:1}" 2 20); do
    for endpoint in $(seq $endpoints); do
      file=/tmp/cluster-$id-$endpoint
      equal "connections of $file" "$(grep -c '"state":"connected"' "$file")" 1
      equal "snapshots of $file" "$(grep -c '"message":"snapshotBegin"' "$file")" 1
      numbers "$file" | cmp - /tmp/numbers
      equal "state of $file" "$(holds "$file")" "$(holds "$first")"
    done
  done
done

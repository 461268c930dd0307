# `systemctl restart` in mid-drive, over Unix sockets and TCP: nobody notices. Stopping for good says goodbye.
. /waymark/Tests/BootTests/inside.sh
install_service
cat >>/etc/waymark/waymarkd.yaml <<'YAML'
  - address: tcp:127.0.0.1:7227
    roles: [vehicle]
YAML
install -D -m 644 /usr/share/doc/waymark/examples/waymarkd-network.conf /etc/systemd/system/waymarkd.service.d/network.conf
systemctl daemon-reload
systemctl start waymarkd

count=12
clusters=()
for index in $(seq $count); do
  address=$vehicle id=car
  ((index % 2)) || address=tcp:127.0.0.1:7227 id=bus
  as car waymark cluster --connect "$address" --id "$id" --endpoint "cluster-$index" --json --until finished \
    >"/tmp/cluster-$index" 2>&1 &
  clusters+=($!)
done
for index in $(seq $count); do eventually 30 has "/tmp/cluster-$index" '"connected"'; done
navigate --vehicle bus --speed 60 >/tmp/navigate 2>&1 &
navigate=$!

for maneuver in 2 3 4; do
  eventually 30 has /tmp/cluster-1 "\"upcomingManeuvers\":[$maneuver"
  before=$(property MainPID)
  systemctl restart waymarkd
  [[ $(property MainPID) != "$before" ]]
  # Taken out of the store.
  empty() { equal stored "$(property NFileDescriptorStore)" 0; }
  eventually 5 empty >/dev/null
done
[[ ! -e /run/waymarkd/restart ]]
equal restarts "$(journal | grep -c 'went on with the connections')" 3
journal | grep -F 'left everything' | tail -1
wait "$navigate"
for cluster in "${clusters[@]}"; do wait "$cluster"; done

# One connection each, one snapshot, every number once and in order, and all have seen the same.
numbers() { sed -n 's/.*"kind":"message".*"sequence":\([0-9]*\).*/\1/p' "$1"; }
for index in $(seq $count); do
  file=/tmp/cluster-$index
  equal "connections of $index" "$(grep -c '"state":"connected"' "$file")" 1
  equal "snapshots of $index" "$(grep -c '"message":"snapshotBegin"' "$file")" 1
  numbers "$file" | sort -n -c
  equal "numbers of $index" "$(numbers "$file")" "$(numbers /tmp/cluster-1)"
done
(($(numbers /tmp/cluster-1 | uniq | wc -l) > 50))

# Stopping for good is something else: it says goodbye, and leaves nothing.
if journal_has stopped; then exit 1; fi
systemctl stop waymarkd
journal_has stopped
equal stored "$(property NFileDescriptorStore)" 0

# Shared by the cases that replace the process during a drive. They define `renew NUMBER`, which replaces it, and the speed of
# the drive, and then source this file.
. /waymark/Tests/BootTests/fleet.sh
systemctl restart waymarkd
admissions() { journal | grep -c 'a peer was admitted'; }
start_fleet 10 "$speed"

for number in 1 2 3; do
  eventually 60 fleet_reaches "$number"
  before=$(property MainPID)
  renew "$number"
  [[ $(property MainPID) != "$before" ]]
  # The new process removed it from the store.
  empty() { [[ $(property NFileDescriptorStore) == 0 ]]; }
  eventually 5 empty
done
[[ ! -e /run/waymark/restart && $(stat -c %U /run/waymark) == root ]]
equal renewals "$(journal | grep -c "took over connections from the previous process: count=$((20 * endpoints + 2)) ")" 3
journal | grep -F 'handed all connections over' | tail -1
# No peer reconnected; two peers drove the reference drive.
equal admissions "$(admissions)" $((20 * endpoints + 2 + 2))
end_fleet

# Each endpoint got one snapshot and every number once and in order; all endpoints of a drive received and showed the same.
numbers() { sed -n 's/.*"kind":"message".*"sequence":\([0-9]*\).*/\1/p' "$1"; }
for first in 1 2; do
  numbers "/tmp/cluster-$first-1" >/tmp/numbers
  (($(uniq /tmp/numbers | wc -l) > 50))
  sort -n -c /tmp/numbers
  for id in $(seq $first 2 20); do
    file=/tmp/cluster-$id-1
    equal "connections of $file" "$(grep -c '"state":"connected"' "$file")" 1
    equal "snapshots of $file" "$(grep -c '"message":"snapshotBegin"' "$file")" 1
    numbers "$file" | cmp - /tmp/numbers
    for endpoint in $(seq 2 "$endpoints"); do cmp "/tmp/cluster-$id-$endpoint" "/tmp/cluster-$first-2"; done
  done
done

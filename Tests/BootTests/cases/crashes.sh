# `kill -9` in mid-drive, twice: systemd starts it again after its delay, everybody comes back, the drives go on to their ends.
. /waymark/Tests/BootTests/fleet.sh
start_fleet 3 15 6
for number in 1 2; do
  eventually 60 fleet_reaches $((2 * number))
  before=$(property MainPID)
  kill -KILL "$before"
  comes_back "$number"
  [[ $(property MainPID) != "$before" ]]
done
end_fleet
# Once at the beginning, and once after each.
for id in {1..6}; do
  equal "connections of $id" "$(grep -c '"state":"connected"' "/tmp/cluster-$id-1")" 3
done

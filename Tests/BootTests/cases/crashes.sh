# `kill -9` during a drive, twice: systemd restarts the service after its delay, all peers resume, and the drives reach their ends.
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
# Once at the start, and once after each crash.
for id in {1..6}; do
  equal "connections of $id" "$(grep -c '"state":"connected"' "/tmp/cluster-$id-1")" 3
done

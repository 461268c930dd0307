# `kill -9` in mid-drive: systemd starts it again, and the drive goes on to its end.
. /waymark/Tests/BootTests/inside.sh
install_service
systemctl start waymarkd

cluster --until finished >/tmp/cluster 2>&1 &
cluster=$!
eventually 10 has /tmp/cluster '"connected"'
navigate --speed 60 >/tmp/navigate 2>&1 &
navigate=$!
eventually 20 has /tmp/cluster '"upcomingManeuvers":[2'

before=$(property MainPID)
kill -KILL "$before"
restarted() { [[ $(property NRestarts) == 1 && $(property ActiveState) == active ]]; }
eventually 10 restarted
[[ $(property MainPID) != "$before" ]]
wait "$cluster"
wait "$navigate"

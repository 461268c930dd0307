# A whole drive over the system's sockets, by ordinary users in the right groups; others are kept out.
. /waymark/Tests/BootTests/inside.sh
install_service
systemctl start waymarkd

cluster --until finished >/tmp/cluster 2>&1 &
cluster=$!
eventually 10 has /tmp/cluster '"connected"'
navigate --speed 300 >/tmp/navigate 2>&1 &
navigate=$!
wait "$cluster"
wait "$navigate"
has /tmp/cluster '"upcomingManeuvers":[1'

# The groups decide: a vehicle's user is no navigation client, and a stranger is neither.
refused as car timeout 20 waymark navigate --connect "$navigation" --vehicle car --route "$route"
refused as stranger timeout 20 waymark request cancel --connect "$vehicle" --id car --timeout 5

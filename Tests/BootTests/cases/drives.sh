# A whole drive over the system's sockets, by ordinary users in the right groups; others are kept out.
. /waymark/Tests/BootTests/inside.sh
install_service
start_drive 300
end_drive

# The groups decide: a vehicle's user is no navigation client, and a stranger is neither.
refused as car timeout 20 waymark navigate --connect "$navigation" --vehicle car --route "$route"
refused as stranger timeout 20 waymark request cancel --connect "$vehicle" --id car --timeout 5

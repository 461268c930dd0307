# A whole drive over the system's sockets, by ordinary users in the right groups; other users cannot connect.
. /waymark/Tests/BootTests/inside.sh
install_service
start_drive 300
end_drive

# The groups decide: the vehicle's user cannot be a navigation client, and another user can be neither.
refused as car timeout 20 waymark navigate --connect "$navigation" --vehicle car --route "$route"
refused as stranger timeout 20 waymark request cancel --connect "$vehicle" --id car --timeout 5

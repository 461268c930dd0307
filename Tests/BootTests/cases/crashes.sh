# `kill -9` in mid-drive: systemd starts it again, and the drive goes on to its end.
. /waymark/Tests/BootTests/inside.sh
install_service
start_drive 60

before=$(property MainPID)
kill -KILL "$before"
restarted() { [[ $(property NRestarts) == 1 && $(state) == active ]]; }
eventually 10 restarted
[[ $(property MainPID) != "$before" ]]
end_drive

# `systemctl stop` sends a Goodbye. The peers reconnect, which starts the service again, and the drive continues.
. /waymark/Tests/BootTests/inside.sh
install_service
start_drive 60

before=$(property MainPID)
systemctl --quiet stop waymarkd
equal result "$(property Result)" success
equal status "$(property ExecMainStatus)" 0
journal_has stopped
# Its peers disconnected after the Goodbye; none was closed by force.
if journal_has "did not disconnect in time"; then exit 1; fi

end_drive
[[ $(property MainPID) != "$before" ]]
equal connections "$(grep -c '"state":"connected"' /tmp/cluster)" 2

# With idle-exit the service exits without a failure when no peer is connected, and starts again at the next connection.
. /waymark/Tests/BootTests/inside.sh
install_service
echo 'times: { grace: 0s, idle-exit: 300ms }' >>/etc/waymark/waymarkd.yaml

for round in 1 2; do
  start_drive 300
  equal "state in round $round" "$(state)" active
  end_drive
  eventually 10 is inactive
  equal result "$(property Result)" success
  equal status "$(property ExecMainStatus)" 0
  equal restarts "$(property NRestarts)" 0
done
equal times "$(journal | grep -c 'idle, exiting until the next connection')" 2

# It also exits if it was started without a connection.
systemctl start waymarkd
eventually 10 is inactive
equal result "$(property Result)" success

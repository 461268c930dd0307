# `systemctl stop` says goodbye; the peers come back by themselves, and the drive goes on.
. /waymark/Tests/BootTests/inside.sh
install_service
systemctl start waymarkd

cluster --until finished >/tmp/cluster 2>&1 &
cluster=$!
eventually 10 has /tmp/cluster '"connected"'
navigate --speed 60 >/tmp/navigate 2>&1 &
navigate=$!
eventually 20 has /tmp/cluster '"upcomingManeuvers":[2'

systemctl stop waymarkd
equal result "$(property Result)" success
equal status "$(property ExecMainStatus)" 0
journal_has stopped
# Its peers went when they were told; nobody had to be cut off.
if journal_has "did not leave in time"; then exit 1; fi

systemctl start waymarkd
wait "$cluster"
wait "$navigate"
equal connections "$(grep -c '"state":"connected"' /tmp/cluster)" 2

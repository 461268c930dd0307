# A daemon with an event loop that hangs is killed and comes back; one that is only busy is left alone.
. /waymark/Tests/BootTests/inside.sh
install_service
mkdir -p /etc/systemd/system/waymarkd.service.d
printf '[Service]\nWatchdogSec=3s\n' >/etc/systemd/system/waymarkd.service.d/watchdog.conf
systemctl daemon-reload

# The last of two loops: not that of the gateway.
printf 'threads: 2\ndebug:\n  fault: busy-loop\n' >>/etc/waymark/waymarkd.yaml
systemctl start waymarkd
pid=$(property MainPID)
provoke() { systemctl kill --kill-who=main --signal=SIGUSR2 waymarkd; }
provoke
eventually 5 journal_has "bringing a fault about"
# Ten seconds of nothing but work, of which peers notice little.
cluster --until ended >/tmp/cluster 2>&1 &
cluster=$!
eventually 10 has /tmp/cluster '"connected"'
sleep 11
equal state "$(property ActiveState)/$(property NRestarts)" active/0
equal pid "$(property MainPID)" "$pid"

sed -i 's/busy-loop/stop-loop/' /etc/waymark/waymarkd.yaml
systemctl restart waymarkd
# connected COUNT: the cluster has connected so often.
connected() { (($(grep -c '"state":"connected"' /tmp/cluster) == $1)); }
equal state "$(property ActiveState)" active
pid=$(property MainPID)
provoke
restarted() { [[ $(property NRestarts) == 1 && $(property ActiveState) == active ]]; }
eventually 15 restarted
[[ $(property MainPID) != "$pid" ]]
journalctl --boot --no-pager --unit waymarkd | grep -qi 'watchdog timeout'
eventually 20 connected 2
kill "$cluster"

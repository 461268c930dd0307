# A daemon whose event loop hangs is killed and restarted, and the drives continue; a daemon that is only busy is not killed.
. /waymark/Tests/BootTests/fleet.sh
printf '[Service]\nWatchdogSec=3s\n' >/etc/systemd/system/waymarkd.service.d/watchdog.conf
systemctl daemon-reload

# The fault affects the last of two loops, not the gateway's.
printf 'threads: 2\ndebug:\n  fault: busy-loop\n' >>/etc/waymark/waymarkd.yaml
systemctl start waymarkd
pid=$(property MainPID)
provoke() { systemctl kill --kill-who=main --signal=SIGUSR2 waymarkd; }
provoke
eventually 30 journal_has "injecting the fault"
# The loop is busy for ten seconds, which peers hardly notice.
start_drive 100
sleep 11
end_drive
equal state "$(property ActiveState)/$(property NRestarts)" active/0
equal pid "$(property MainPID)" "$pid"

sed -i 's/busy-loop/stop-loop/' /etc/waymark/waymarkd.yaml
systemctl restart waymarkd
start_fleet 3 15 6
eventually 60 fleet_reaches 2
pid=$(property MainPID)
provoke
comes_back 1
[[ $(property MainPID) != "$pid" ]]
entries --unit waymarkd | grep -i 'watchdog timeout' >/dev/null
end_fleet

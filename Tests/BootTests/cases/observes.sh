# An observer sees a drive from its beginning to its end, also over a restart, without a reconnection. Only members of its group may
# observe.
. /waymark/Tests/BootTests/inside.sh
install_service
for user in stranger car phone; do
  refused as "$user" timeout 20 python3 -B /usr/share/doc/waymark/examples/observe.py "$observe" </dev/null
done
equal state "$(state)" inactive

# It starts the service.
start_observer
equal state "$(state)" active
has /tmp/observer 'sees state'
start_drive 40
eventually 30 has /tmp/observer 'event started code 1: car, '
eventually 30 has /tmp/observer 'to car/cluster: '
pid=$(property MainPID)
systemctl restart waymarkd
[[ $(property MainPID) != "$pid" ]]
equal renewals "$(journal | grep -c 'took over connections from the previous process: count=3 ')" 1
end_drive
eventually 30 has /tmp/observer 'event session ended code 1: car, '
eventually 30 has /tmp/observer 'vehicle car is gone'
end_observer
equal connections "$(grep -c '^connected' /tmp/observer)" 1
if grep -E '^(resumed|goodbye|error)' /tmp/observer; then exit 1; fi

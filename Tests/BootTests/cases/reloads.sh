# `systemctl reload` during a drive opens and closes listeners, an invalid file changes nothing, and allowed peers stay connected.
. /waymark/Tests/BootTests/inside.sh
install_service
# A folder in which the service may open sockets.
mkdir -p /etc/systemd/system/waymarkd.service.d
printf '[Service]\nRuntimeDirectory=waymark-more\n' >/etc/systemd/system/waymarkd.service.d/reload.conf
systemctl daemon-reload
more=/run/waymark-more/second.sock
systemctl start waymarkd
pid=$(property MainPID)
says() { [[ $(property StatusText) == *"$1"* ]]; }

cluster --until finished >/tmp/cluster 2>&1 &
cluster=$!
eventually 10 has /tmp/cluster '"connected"'
navigate --speed 40 >/tmp/navigate 2>&1 &
navigate=$!
eventually 20 has /tmp/cluster '"upcomingManeuvers":[2'
eventually 5 says "1 vehicle with 1 endpoint, 1 session, 1 client"

cp /etc/waymark/waymarkd.yaml /tmp/good.yaml
cat >>/etc/waymark/waymarkd.yaml <<YAML
  - address: unix:$more
    roles: [vehicle]
    mode: 0666
YAML
systemctl reload waymarkd
eventually 5 test -S "$more"
as car waymark cluster --connect "unix:$more" --id car --endpoint second --json --accept-prompts yes >/tmp/second 2>&1 &
second=$!
eventually 10 has /tmp/second '"connected"'
eventually 5 says "1 vehicle with 2 endpoints"

# An invalid file: the reload fails, and the status and the log have the reason with its location.
echo 'treads: 2' >>/etc/waymark/waymarkd.yaml
line=$(wc -l </etc/waymark/waymarkd.yaml)
refused systemctl reload waymarkd
equal "ExecReload" "$(systemctl show --property ExecReload waymarkd | grep -o 'status=78' | head -n 1)" status=78
eventually 5 says "/etc/waymark/waymarkd.yaml:$line:1: unknown setting treads"
eventually 5 journal_has "the new settings were rejected, keeping the previous ones: reason=/etc/waymark/waymarkd.yaml:$line:1"
[[ -S "$more" ]]

cp /tmp/good.yaml /etc/waymark/waymarkd.yaml
systemctl reload waymarkd
equal "foreign lines" "$(foreign_lines | grep -v "waymarkd.yaml:$line:1: unknown setting treads" || true)" ""
gone() { [[ ! -e "$more" ]] && ! says "treads"; }
eventually 5 gone
lost() { (($(grep -c '"connecting"' /tmp/second) > 1)); }
eventually 10 lost
kill "$second"

wait "$cluster"
wait "$navigate"
equal connections "$(grep -c '"state":"connected"' /tmp/cluster)" 1
equal pid "$(property MainPID)" "$pid"
equal state "$(property ActiveState)/$(property NRestarts)" active/0

# Invalid settings: the start fails with their location, and systemd does not retry.
. /waymark/Tests/BootTests/inside.sh
install_service
echo 'treads: 2' >>/etc/waymark/waymarkd.yaml

if systemctl start waymarkd; then exit 1; fi
equal state "$(property ActiveState)" failed
equal status "$(property ExecMainStatus)" 78
equal restarts "$(property NRestarts)" 0
line=$(wc -l </etc/waymark/waymarkd.yaml)
journal_has "/etc/waymark/waymarkd.yaml:$line:1: unknown setting treads"

sed -i '$d' /etc/waymark/waymarkd.yaml
systemctl start waymarkd

# Without its drop-in the service has no network to open sockets in; with it, vehicles drive over them.
. /waymark/Tests/BootTests/inside.sh
install_service
sed -i '/^listeners:/a\  - {address: "tcp:127.0.0.1:7228", roles: [vehicle]}' /etc/waymark/waymarkd.yaml
if systemctl start waymarkd; then exit 1; fi
journal_has 'Address family not supported by protocol'
systemctl --quiet stop waymarkd

install -D -m 644 /usr/share/doc/waymark/examples/waymarkd-network.conf /etc/systemd/system/waymarkd.service.d/network.conf
systemctl daemon-reload
systemctl start waymarkd
start_drive 300 tcp:127.0.0.1:7228
end_drive

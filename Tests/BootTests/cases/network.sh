# Sockets that the service opens itself: always in its folder, over TCP only with the drop-in for network access.
. /waymark/Tests/BootTests/inside.sh
install_service
sed -i '/^listeners:/a\  - {address: "unix:/run/waymarkd/own.sock", roles: [vehicle], mode: 0666}' /etc/waymark/waymarkd.yaml
systemctl start waymarkd
start_drive 300 unix:/run/waymarkd/own.sock
end_drive
systemctl --quiet stop waymarkd
# systemd reports a service as stopped before it removes the service's folder.
eventually 10 test ! -e /run/waymarkd
[[ -S /run/waymark/vehicle.sock ]]

sed -i '/^listeners:/a\  - {address: "tcp:127.0.0.1:7228", roles: [vehicle]}' /etc/waymark/waymarkd.yaml
if systemctl start waymarkd; then exit 1; fi
journal_has 'address family not supported by protocol'
systemctl --quiet stop waymarkd

install -D -m 644 /usr/share/doc/waymark/examples/waymarkd-network.conf /etc/systemd/system/waymarkd.service.d/network.conf
systemctl daemon-reload
systemctl start waymarkd
start_drive 300 tcp:127.0.0.1:7228
end_drive

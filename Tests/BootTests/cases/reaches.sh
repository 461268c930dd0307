# With the socket's drop-in and a key, other machines can connect; the service itself still has no network access.
. /waymark/Tests/BootTests/inside.sh
install_service
install -D -m 644 /usr/share/doc/waymark/examples/waymarkd-vehicle-tcp.conf \
  /etc/systemd/system/waymarkd-vehicle.socket.d/tcp.conf
systemctl daemon-reload
systemctl --quiet stop "${sockets[@]}"
systemctl start "${sockets[@]}"
if systemctl start waymarkd; then exit 1; fi
equal status "$(property ExecMainStatus)" 78
journal_has 'waymarkd-vehicle: tcp:0.0.0.0:7227 can be reached from other machines'

sed -i 's/# key: .*/key: a secret of at least 16 bytes/' /etc/waymark/waymarkd.yaml
echo 'a secret of at least 16 bytes' >/tmp/key
chmod 644 /tmp/key
for address in tcp:127.0.0.1:7227 'tcp:[::1]:7227'; do
  refused as stranger timeout 20 waymark request cancel --connect "$address" --id car --timeout 5
  start_drive 300 "$address" --key-file /tmp/key
  end_drive
done
equal network "$(property PrivateNetwork)" yes

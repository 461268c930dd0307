# Without its drop-in the service has no network; with it, vehicles drive over TCP.
. /waymark/Tests/BootTests/inside.sh
install_service
cat >>/etc/waymark/waymarkd.yaml <<'YAML'
  - address: tcp:127.0.0.1:7227
    roles: [vehicle]
YAML
if systemctl start waymarkd; then exit 1; fi
systemctl stop waymarkd

install -D -m 644 /usr/share/doc/waymark/examples/waymarkd-network.conf /etc/systemd/system/waymarkd.service.d/network.conf
systemctl daemon-reload
systemctl start waymarkd
as stranger waymark cluster --connect tcp:127.0.0.1:7227 --id car --json --until finished >/tmp/cluster 2>&1 &
cluster=$!
eventually 10 has /tmp/cluster '"connected"'
navigate --speed 300 >/tmp/navigate 2>&1
wait "$cluster"

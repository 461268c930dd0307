# The exporter serves the gateway's counters on loopback, as a user of its own that may only observe. The operator starts it.
. /waymark/Tests/BootTests/inside.sh
install_service
if systemctl --quiet is-enabled waymark-exporter; then exit 1; fi
equal state "$(systemctl is-active waymark-exporter || true)" inactive

scrape() {
  timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/9727
    printf "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9727\r\nConnection: close\r\n\r\n" >&3
    cat <&3' >/tmp/metrics 2>/tmp/scrape-errors || true
}
scraped() { scrape && grep -qE "^$1" /tmp/metrics; }

systemctl start waymark-exporter
eventually 30 scraped 'waymark_up 1'
# Its connection has started the service.
equal state "$(state)" active
start_drive 300
end_drive
eventually 30 scraped 'waymark_sessions_ended_total\{reason="finished"\} 1'
eventually 30 scraped 'waymark_peers_connected\{role="observer"\} 1'

pid=$(systemctl show --property MainPID --value waymark-exporter)
user=$(stat --format %u "/proc/$pid")
((user >= 61184)) || { echo "the exporter runs as $user, which is no dynamic user"; exit 1; }
systemd-analyze security --threshold=15 waymark-exporter.service >/tmp/security
tail -1 /tmp/security

# A restart keeps the counters; a stop of the exporter is no failure.
systemctl restart waymarkd
eventually 30 scraped 'waymark_sessions_ended_total\{reason="finished"\} 1'
systemctl stop waymark-exporter
equal result "$(systemctl show --property Result --value waymark-exporter)" success

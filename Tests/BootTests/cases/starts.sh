# The service starts in its sandbox, and counts as started only when clients can connect.
. /waymark/Tests/BootTests/inside.sh
install_service

echo 'instance: depot' >>/etc/waymark/waymarkd.yaml
systemctl start waymarkd
equal state "$(property ActiveState)/$(property SubState)" active/running
# Started means listening.
equal vehicle.sock "$(stat -c '%U %G %a' /run/waymark/vehicle.sock)" "root waymark-vehicle 660"
equal navigation.sock "$(stat -c '%U %G %a' /run/waymark/navigation.sock)" "root waymark-navigation 660"
equal observe.sock "$(stat -c '%U %G %a' /run/waymark/observe.sock)" "root waymark-observe 660"
cluster --until ended >/tmp/cluster &
eventually 10 has /tmp/cluster '"connected"'

equal configuration "$(stat -c '%U %G %a' /etc/waymark/waymarkd.yaml)" "root waymark 640"
equal state-folder "$(stat -c '%U %G %a' /var/lib/waymark)" "waymark waymark 700"
# The sandbox lets the daemon keep its epoch.
[[ $(</var/lib/waymark/epoch) =~ ^[0-9]{13}$ ]]

# The sandbox, according to systemd and to the kernel.
systemd-analyze verify /lib/systemd/system/waymarkd{.service,-vehicle.socket,-navigation.socket,-observe.socket} >/tmp/verify 2>&1
if command -v man >/dev/null; then equal verify "$(</tmp/verify)" ""; fi
systemd-analyze security --threshold=9 waymarkd.service >/tmp/security
tail -1 /tmp/security
pid=$(property MainPID)
equal user "$(stat -c %U "/proc/$pid")" waymark
status() { sed -n "s/^$1:\s*//p" "/proc/$pid/status"; }
equal capabilities "$(status CapBnd)" 0000000000000000
equal no-new-privileges "$(status NoNewPrivs)" 1
equal seccomp "$(status Seccomp)" 2
[[ $(readlink "/proc/$pid/ns/net") != $(readlink /proc/self/ns/net) ]]

systemctl --quiet stop waymarkd
equal result "$(property Result)" success
equal "foreign lines" "$(foreign_lines)" ""

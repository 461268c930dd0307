# An upgrade during a drive from a package without observers, with settings that stay as they were, opens the socket for observers and
# is not noticed by peers. The removal closes it.
. /waymark/Tests/BootTests/inside.sh

# The package as it was then.
dpkg-deb --raw-extract /waymark.deb /tmp/old
rm /tmp/old/lib/systemd/system/{waymarkd-observe.socket,waymark-{inspect,exporter}.service} /tmp/old/DEBIAN/md5sums
sed -i 's/^Version: .*/Version: 0.0.1-1/' /tmp/old/DEBIAN/control
sed -i 's/ waymarkd-observe\.socket//' /tmp/old/lib/systemd/system/waymarkd.service
sed -i '/waymark-observe/d' /tmp/old/usr/lib/sysusers.d/waymark.conf
sed -i '/socket: waymarkd-observe/,/observe: state/d' /tmp/old/etc/waymark/waymarkd.yaml
sed -i 's/waymarkd-observe\.socket/waymarkd-vehicle.socket/' /tmp/old/DEBIAN/p*
if grep -r 'waymarkd-observe' /tmp/old/lib /tmp/old/etc /tmp/old/DEBIAN; then exit 1; fi
dpkg-deb --build -Znone /tmp/old /tmp/old.deb >/dev/null
dpkg --install /tmp/old.deb >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; exit 1; }
[[ ! -e /run/waymark/observe.sock ]]
useradd --groups waymark-vehicle car
useradd --groups waymark-navigation phone

# Settings that were changed are kept.
echo 'log-level: debug' >>/etc/waymark/waymarkd.yaml
cp /etc/waymark/waymarkd.yaml /tmp/settings
systemctl start waymarkd
start_drive 20
pid=$(property MainPID)
dpkg --force-confold --install /waymark.deb >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; exit 1; }
if grep -i 'job\|fail' /tmp/dpkg; then exit 1; fi
cmp /etc/waymark/waymarkd.yaml /tmp/settings
[[ $(property MainPID) != "$pid" ]]
equal renewals "$(journal | grep -c 'took over connections from the previous process: count=2 ')" 1
for socket in "${sockets[@]}"; do
  equal "$socket" "$(state "$socket")/$(property UnitFileState "$socket")" active/enabled
done
equal observe.sock "$(stat -c '%U %G %a' /run/waymark/observe.sock)" "root waymark-observe 660"

useradd --groups waymark-observe technician
start_observer
has /tmp/observer 'sees state'
eventually 30 has /tmp/observer 'to car/cluster: '
end_drive
equal connections "$(grep -c '"state":"connected"' /tmp/cluster)" 1
eventually 30 has /tmp/observer 'event session ended code 1: car, '
end_observer

# Back to the older package, which does not know the socket, and again to the new one.
for package in /tmp/old.deb /waymark.deb; do
  pid=$(property MainPID)
  dpkg --force-confold --install "$package" >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; exit 1; }
  equal "state with $package" "$(state)" active
  [[ $(property MainPID) != "$pid" ]]
  start_drive 300
  end_drive
done
start_observer
end_observer

dpkg --remove waymark >/dev/null 2>&1
equal state "$(state)" inactive
equal socket "$(state waymarkd-observe.socket)" inactive
[[ ! -e /run/waymark/observe.sock ]]

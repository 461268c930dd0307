# Three upgrades during a drive, over Unix sockets and TCP, are not noticed by peers.
for number in 1 2 3; do
  dpkg-deb --raw-extract /waymark.deb /tmp/next
  sed -i "s/^Version: .*/&+next$number/" /tmp/next/DEBIAN/control
  dpkg-deb --build -Znone /tmp/next "/tmp/next$number.deb" >/dev/null
  rm -r /tmp/next
done
renew() {
  # The settings were changed for this case, so they stay.
  dpkg --force-confold --install "/tmp/next$1.deb" >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; return 1; }
  [[ $(dpkg-query --show --showformat '${Version}' waymark) == *+next$1 ]]
}
# Slow enough that the drive lasts for three upgrades on a busy machine.
speed=5
. /waymark/Tests/BootTests/renewal.sh

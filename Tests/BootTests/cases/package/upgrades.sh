# A newer package in mid-drive, three times, over Unix sockets and TCP: nobody notices.
for number in 1 2 3; do
  dpkg-deb --raw-extract /waymark.deb /tmp/next
  sed -i "s/^Version: .*/&+next$number/" /tmp/next/DEBIAN/control
  dpkg-deb --build -Znone /tmp/next "/tmp/next$number.deb" >/dev/null
  rm -r /tmp/next
done
renew() {
  # The settings were changed for this case: they stay.
  dpkg --force-confold --install "/tmp/next$1.deb" >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; return 1; }
  [[ $(dpkg-query --show --showformat '${Version}' waymark) == *+next$1 ]]
}
# Three packages take their time on a busy machine, and the drive is to last.
speed=5
. /waymark/Tests/BootTests/renewal.sh

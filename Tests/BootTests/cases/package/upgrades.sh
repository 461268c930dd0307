# A newer package in mid-drive, three times, over Unix sockets and TCP: nobody notices.
renew() {
  rm -rf /tmp/next
  dpkg-deb --raw-extract /waymark.deb /tmp/next
  sed -i "s/^Version: .*/&+next$1/" /tmp/next/DEBIAN/control
  dpkg-deb --build -Znone /tmp/next /tmp/next.deb >/dev/null
  # The settings were changed for this case: they stay.
  dpkg --force-confold --install /tmp/next.deb >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; return 1; }
  [[ $(dpkg-query --show --showformat '${Version}' waymark) == *+next$1 ]]
}
. /waymark/Tests/BootTests/renewal.sh

# `systemctl restart` in mid-drive, over Unix sockets and TCP: nobody notices. Stopping for good says goodbye.
renew() { systemctl restart waymarkd; }
speed=20
. /waymark/Tests/BootTests/renewal.sh

if journal_has stopped; then exit 1; fi
systemctl stop waymarkd
journal_has stopped
equal stored "$(property NFileDescriptorStore)" 0

# `systemctl restart` during a drive, over Unix sockets and TCP, is not noticed by peers. A stop sends a Goodbye.
renew() { systemctl restart waymarkd; }
speed=20
. /waymark/Tests/BootTests/renewal.sh

if journal_has stopped; then exit 1; fi
systemctl stop waymarkd
journal_has stopped
equal stored "$(property NFileDescriptorStore)" 0

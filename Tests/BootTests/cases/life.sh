# The journal finds the history of a vehicle by its id, with explanations of the catalog, and contains no locations.
. /waymark/Tests/BootTests/inside.sh
install_service
journalctl --update-catalog
systemctl start waymarkd

as car waymark cluster --connect "$vehicle" --id bus --json --accept-prompts yes --until ended >/tmp/bus 2>&1 &
cluster --until finished >/tmp/cluster 2>&1 &
cluster=$!
eventually 10 has /tmp/cluster '"connected"'
eventually 10 has /tmp/bus '"connected"'
navigate --speed 300 >/tmp/navigate 2>&1
wait "$cluster"

# life FIELD=VALUE: the messages of its entries, in order.
life() { entries --output cat "$1" | sed 's/: .*//'; }
has_left() { life WAYMARK_VEHICLE=car | grep -qx 'a peer disconnected'; }
eventually 10 has_left
equal life "$(life WAYMARK_VEHICLE=car | grep -v '^guidance paused$' | tr '\n' ';')" \
  "a peer was admitted;a session was opened;guidance started;a session ended;a peer disconnected;"
equal others "$(life WAYMARK_VEHICLE=bus | tr '\n' ';')" "a peer was admitted;"
session=$(entries --output json WAYMARK_VEHICLE=car | sed -n 's/.*"WAYMARK_SESSION":"\([0-9]*\)".*/\1/p' | sort -u)
equal sessions "$(wc -w <<<"$session")" 1
[[ $(life WAYMARK_SESSION="$session" | tail -1) == 'a session ended' ]]

# Each entry has the fields by which it is found and explained.
entries --output json WAYMARK_VEHICLE=car >/tmp/life
for field in MESSAGE_ID PRIORITY CODE_FILE CODE_LINE CODE_FUNC WAYMARK_VEHICLE SYSLOG_IDENTIFIER; do
  equal "$field" "$(grep -c "\"$field\":" /tmp/life)" "$(wc -l </tmp/life)"
done
grep -q '"WAYMARK_ENDPOINT":"cluster"' /tmp/life
grep -q '"WAYMARK_PEER_UID":"'"$(id -u car)"'"' /tmp/life
grep -q '"WAYMARK_CLIENT":"' /tmp/life
equal explained "$(entries -x --output short WAYMARK_VEHICLE=car | grep -c '^-- Defined-By: Waymark\|^░░ Defined-By: Waymark')" \
  "$(wc -l </tmp/life)"
# Vaduz lies at 47.1 north and 9.5 east.
if entries --output json --unit waymarkd | grep -E '47\.[01][0-9]|9\.5[0-9]|Vaduz|Balzers'; then exit 1; fi

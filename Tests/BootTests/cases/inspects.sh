# The inspector serves its page on loopback, as a user of its own that may only observe. The operator starts it.
. /waymark/Tests/BootTests/inside.sh
install_service
if systemctl --quiet is-enabled waymark-inspect; then exit 1; fi
equal state "$(systemctl is-active waymark-inspect || true)" inactive

# ask HOST: the status line for the page, asked by that name.
ask() {
  timeout 20 bash -c 'exec 3<>/dev/tcp/127.0.0.1/8787
    printf "GET / HTTP/1.1\r\nHost: $0\r\nConnection: close\r\n\r\n" >&3
    cat <&3' "$1" >/tmp/page 2>/tmp/page-errors || true
  head -1 /tmp/page | tr -d '\r'
}
answers() { [[ $(ask 127.0.0.1:8787) == 'HTTP/1.1 200 OK' ]]; }

systemctl enable --now waymark-inspect
eventually 30 answers
[[ $(ask evil.example:8787) != *' 200 '* ]] || { echo "another site's name is answered"; exit 1; }

# The link is for the group, and not in the journal.
eventually 30 test -s /run/waymark-inspect/link
grep -q '^http://127.0.0.1:8787/#token=' /run/waymark-inspect/link
as technician cat /run/waymark-inspect/link >/dev/null
if as stranger cat /run/waymark-inspect/link 2>/dev/null; then echo "another user can read the link"; exit 1; fi
if entries --unit waymark-inspect | grep token=; then echo "the journal has the secret"; exit 1; fi

pid=$(systemctl show --property MainPID --value waymark-inspect)
user=$(stat --format %u "/proc/$pid")
((user >= 61184)) || { echo "the inspector runs as $user, which is no dynamic user"; exit 1; }
systemctl stop waymark-inspect
equal state "$(systemctl is-active waymark-inspect || true)" inactive
equal result "$(systemctl show --property Result --value waymark-inspect)" success

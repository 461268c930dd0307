# The package opens the sockets, keeps changed settings at an upgrade, and leaves no files after a purge.
. /waymark/Tests/BootTests/inside.sh

dpkg --install /waymark.deb >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; exit 1; }
for socket in "${sockets[@]}"; do
  equal "$socket" "$(property SubState "$socket")/$(property UnitFileState "$socket")" listening/enabled
done
equal state "$(state)/$(property UnitFileState)" inactive/static
equal configuration "$(stat -c '%U %G %a' /etc/waymark/waymarkd.yaml)" "root waymark 640"
waymark demo --speed 1000 >/tmp/demo 2>&1 || { cat /tmp/demo; exit 1; }
tail -n 1 /tmp/demo
for page in 8/waymarkd.8 1/waymark.1 5/waymarkd.yaml.5; do zcat "/usr/share/man/man$page.gz" >/dev/null; done
# offers WORD...: the completions that bash offers for the last word, with the package's completion script.
offers() {
  bash -c '
    . "/usr/share/bash-completion/completions/$1"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$*
    COMP_POINT=${#COMP_LINE}
    completion=$(complete -p "$1" | sed "s/.* -F \([^ ]*\) .*/\1/")
    "$completion" "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}"' bash "$@"
}
equal "completion of na" "$(offers waymark na)" navigate
equal "completion of cluster --until fi" "$(offers waymark cluster --until fi)" finished
equal "completion of --check" "$(offers waymarkd --check)" --check-config
equal "completion of --log-level w" "$(offers waymarkd --log-level w)" warning
equal "completion of --config" "$(offers waymarkd --config /etc/waymark/way)" /etc/waymark/waymarkd.yaml
# No dependency on a toolchain.
if ldd /usr/sbin/waymarkd /usr/lib/waymark/waymark | grep -E 'swift|not found'; then exit 1; fi

# The next version contains different settings; the operator's stay.
echo 'log-level: debug' >>/etc/waymark/waymarkd.yaml
mkdir /tmp/next
dpkg-deb --raw-extract /waymark.deb /tmp/next
sed -i 's/^Version: .*/&+next/' /tmp/next/DEBIAN/control
echo 'arbitration: priority' >>/tmp/next/etc/waymark/waymarkd.yaml
sed -i '/etc.waymark.waymarkd.yaml/d' /tmp/next/DEBIAN/md5sums
dpkg-deb --build -Znone /tmp/next /tmp/next.deb >/dev/null
systemctl start waymarkd
before=$(property MainPID)
inode=$(stat -c %i /run/waymark/vehicle.sock)
dpkg --force-confdef --force-confold --install /tmp/next.deb >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; exit 1; }
[[ $(dpkg-query --show --showformat '${Version}' waymark) == *+next ]]
has /etc/waymark/waymarkd.yaml 'log-level: debug'
if has /etc/waymark/waymarkd.yaml 'arbitration: priority'; then exit 1; fi
equal configuration "$(stat -c '%U %G %a' /etc/waymark/waymarkd.yaml)" "root waymark 640"
equal state "$(state)" active
[[ $(property MainPID) != "$before" ]]
equal vehicle.sock "$(stat -c %i /run/waymark/vehicle.sock)" "$inode"
# An upgrade does not start a stopped service.
systemctl --quiet stop waymarkd
dpkg --install /tmp/next.deb >/tmp/dpkg 2>&1 || { cat /tmp/dpkg; exit 1; }
equal state "$(state)" inactive

systemctl start waymarkd
dpkg --remove waymark >/dev/null 2>&1
equal state "$(state)" inactive
for socket in "${sockets[@]}"; do equal "$socket" "$(property ActiveState "$socket")" inactive; done
has /etc/waymark/waymarkd.yaml 'log-level: debug'
dpkg --purge waymark >/dev/null 2>&1
for folder in /etc /lib/systemd /usr/bin /usr/lib/waymark /usr/sbin /usr/share /usr/lib/sysusers.d /usr/lib/tmpfiles.d /var/lib /run; do
  [[ ! -e $folder ]] || find "$folder" -xdev -name 'waymark*' ! -path '/run/boot-test*' ! -path '/etc/systemd/system/boot-test*'
done >/tmp/left
equal left "$(</tmp/left)" ""

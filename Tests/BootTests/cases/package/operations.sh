# Runs every command of Docs/operations.md, in order.
. /waymark/Tests/BootTests/inside.sh
export DEBIAN_FRONTEND=noninteractive
useradd car
useradd phone
useradd technician
useradd visitor
mkdir -p /tmp/work
cd /tmp/work
chmod 777 .

# The document's commands, one per line, with their prompts.
sed -n 's/^    \([$#] .*\)/\1/p; s/^        \(--.*\)/\1/p' /waymark/Docs/operations.md |
  sed -e ':join' -e '/\\$/{N;s/ *\\\n/ /;b join' -e '}' >commands
(($(wc -l <commands) > 20))

# A package that is older and one that is newer than the installed one.
make_package() {
  rm -rf "$1"
  dpkg-deb --raw-extract /waymark.deb "$1"
  sed -i "s/^Version: .*/Version: $2/" "$1/DEBIAN/control"
  dpkg-deb --build -Znone "$1" "waymark_$1_amd64.deb" >/dev/null
}
make_package OLD 0.0.1-1
make_package NEW 99.0-1

run() {
  local user=$1 command=$2
  if [[ $user == root ]]; then bash -o pipefail -c "$command"; else as "$user" bash -o pipefail -c "$command"; fi
}

while read -r prompt command; do
  user=root
  [[ $prompt == '#' ]] || user=visitor
  case $command in
    'scripts/package.sh') continue ;;  # No compiler in here; the package is /waymark.deb.
    'apt install ./.build-package/'*) command='apt install /waymark.deb' ;;
    'waymark cluster '*) user=car ;;
    'waymark navigate '*) user=phone ;;
    'waymark status') user=technician ;;
    'waymark watch '*) user=technician; command="timeout --signal=INT --preserve-status 2 $command" ;;
    'ss '*) command -v ss >/dev/null || continue ;;
    'apt install ./waymark_NEW'*) command="apt install --yes ${command#apt install }" ;;
    'apt '*) command="apt --yes ${command#apt }" ;;
  esac
  echo "$prompt $command"
  if [[ $command == 'waymark cluster '* ]]; then
    run "$user" "$command" >cluster 2>&1 &
    cluster=$!
  else
    run "$user" "$command" >output 2>&1 </dev/null || { cat output; echo "failed: $command"; exit 1; }
  fi
  [[ $command != 'waymark navigate '* ]] || wait "$cluster"
  [[ $command != *'systemctl restart waymarkd' ]] || equal state "$(property ActiveState)" active
done <commands

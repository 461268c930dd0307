#!/usr/bin/env bash
# run.sh [-b BUILD] [-p PACKAGE] [-r ROOT] [-l] [-m] [-P PART | CASE ...]: boots a machine for each case, and prints the result of each. The
# machine contains the programs of the folder BUILD (default: .build/release), or the cases install PACKAGE. The machine is a copy of
# ROOT: by default this machine's root, but for a PACKAGE a plain Debian 12, which is created once, in .build/debian-12. CASEs are
# scripts; the default is all of cases/, and with a PACKAGE also those of cases/package/. PART is `all`, or as 2/5: every fifth of them,
# from the third on, and those that run in every part. -l only prints the names of the cases, and -m only makes the plain Debian 12.
#
# Installs missing Debian packages. If no machine can be booted here, prints why all cases were skipped, and succeeds. A signal that ends
# this script ends its machines.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
tree=$(realpath "$here/../..")
build=$tree/.build/release
package=
root=
part=all
is_listed=
only_makes=
while getopts b:lmP:p:r: option; do
  case $option in
    b) build=$(realpath "$OPTARG") ;;
    l) is_listed=1 ;;
    m) only_makes=1 ;;
    P) part=$OPTARG ;;
    p) package=$(realpath "$OPTARG") ;;
    r) root=$(realpath "$OPTARG") ;;
    *) exit 64 ;;
  esac
done
shift $((OPTIND - 1))
cases=("$@")
if [[ ${#cases[@]} -eq 0 ]]; then
  cases=("$here"/cases/*.sh)
  [[ -z $package ]] || cases+=("$here"/cases/package/*.sh)
elif [[ $part != all ]]; then
  echo "run.sh: either a part or cases" >&2
  exit 64
fi

# Cases of every part: the package is installed, upgraded and purged; it starts in its sandbox; an upgrade during a drive, and a restart
# with 200 clusters, are not noticed by peers. The case `upgrades` shows both at once, but takes two minutes, and is in one part.
in_every_part=(restarts older installs starts)
# The longest of the others, of which each part has one. They are started first, so that the others run beside them.
longest=(upgrades operations watchdog crashes reloads)

if [[ $part != all ]]; then
  [[ $part =~ ^(0|[1-9][0-9]*)/([1-9][0-9]*)$ ]] && ((BASH_REMATCH[1] < BASH_REMATCH[2])) || {
    echo "run.sh: $part: a part is \`all\`, or as \`2/5\`" >&2
    exit 64
  }
  number=${BASH_REMATCH[1]} count=${BASH_REMATCH[2]}
  declare -A paths
  sweep=("${longest[@]}")
  for path in "${cases[@]}"; do
    name=$(basename "$path" .sh)
    paths[$name]=$path
    [[ " ${in_every_part[*]} ${longest[*]} " == *" $name "* ]] || sweep+=("$name")
  done
  names=()
  for ((index = number; index < ${#sweep[@]}; index += count)); do names+=("${sweep[$index]}"); done
  cases=()
  for name in "${names[@]}" "${in_every_part[@]}"; do
    # Without a package there are fewer cases.
    [[ -z ${paths[$name]-} ]] || cases+=("${paths[$name]}")
  done
fi

if [[ -n $is_listed ]]; then
  basename -a -s .sh "${cases[@]}"
  exit 0
fi

stage=$(mktemp -d)
results=$(mktemp -d)
# end_running: ends what this process started in the background and still runs, and waits for it.
end_running() {
  # shellcheck disable=SC2046 # They are several.
  { kill $(jobs -pr); wait; } 2>/dev/null || true
}
end() {
  end_running
  rm -rf "$stage" "$stage.log" "$results"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$stage"

skip() {
  echo "skipped all ${#cases[@]} boot tests: $*"
  exit 0
}

[[ $EUID -eq 0 ]] || skip "only root can boot a machine"
"$tree/scripts/install.sh" mmdebstrap systemd-container >"$stage.log" 2>&1 || { tail -3 "$stage.log"; skip "no systemd-container"; }

# make_debian FOLDER: makes a plain Debian in FOLDER unless it exists. Python is for the example that observes.
make_debian() {
  [[ ! -x $1/usr/bin/python3 ]] || return 0
  mkdir -p "$(dirname "$1")"
  rm -rf "$1.part" "$1"
  mmdebstrap --variant=minbase --aptopt='APT::Install-Recommends "false"' --include=systemd-sysv,dbus,man-db,python3 \
    bookworm "$1.part" >"$stage.log" 2>&1 || {
    tail -3 "$stage.log"
    return 1
  }
  mv "$1.part" "$1"
}
debian=$tree/.build/debian-12
if [[ -n $only_makes ]]; then
  make_debian "$debian" || skip "mmdebstrap could not make a plain Debian 12"
  exit 0
fi

options=()
if [[ -n $package ]]; then
  options+=(-b "$package:/waymark.deb")
  if [[ -z $root ]]; then
    root=$debian
    make_debian "$root" || skip "mmdebstrap could not make a plain Debian 12"
  fi
else
  "$tree/scripts/release/stage.sh" "$build" "$stage"
  # An ordinary build uses the toolchain's libraries, which the unit's sandbox does not allow by default.
  runtime=$(ldd "$build/waymarkd" | sed -n 's,.*=> \(/.*\)/libswiftCore.so .*,\1,p')
  if [[ -n $runtime ]]; then
    mkdir -p "$stage/etc/systemd/system/waymarkd.service.d"
    printf '[Service]\nExecPaths=%s\n' "$runtime" >"$stage/etc/systemd/system/waymarkd.service.d/toolchain.conf"
  fi
fi
[[ -z $root ]] || options+=(-r "$root")

# run_case CASE: stores the result of a case for print_next. Runs in a process of its own.
run_case() {
  local name began=$SECONDS status=0
  name=$(basename "$1" .sh)
  trap 'end_running; exit 143' TERM
  # In the background, because a trap waits for the end of a process in front.
  "$here/boot.sh" "${options[@]}" "$stage" "$1" >"$results/$name" 2>&1 &
  wait $! || status=$?
  echo "$status $((SECONDS - began))" >"$results/$name.part"
  mv "$results/$name.part" "$results/$name.ended"
}

# Prints the result of the next case, if it has ended. The results are in the order of the cases.
print_next() {
  local name status seconds
  ((printed < ${#cases[@]})) || return 1
  name=$(basename "${cases[$printed]}" .sh)
  [[ -e $results/$name.ended ]] || return 1
  read -r status seconds <"$results/$name.ended"
  case $status in
    0) echo "ok $name ($seconds s)" ;;
    77) wait; skip "$(<"$results/$name")" ;;
    *) echo "FAILED $name ($seconds s)"; failed=1 ;;
  esac
  sed "s/^/    /" "$results/$name"
  printed=$((printed + 1))
}

# Two at a time, because they mostly wait.
failed=0 printed=0 running=0
for case in "${cases[@]}"; do
  if ((running == 2)); then
    wait -n
    running=1
  fi
  run_case "$case" &
  running=$((running + 1))
  while print_next; do :; done
done
wait
while ((printed < ${#cases[@]})); do print_next; done
exit "$failed"

#!/usr/bin/env bash
# install.sh [PACKAGE...]: installs the Debian packages that are missing of those that a build needs, and PACKAGEs. Prints first what
# it installs. Upgrades no installed package, unless a new one requires its newer version: then it says so, and asks in a terminal.
set -euo pipefail
missing=()
for package in libsystemd-dev libprotobuf-c-dev protobuf-c-compiler pkg-config zlib1g-dev curl "$@"; do
  [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] || missing+=("$package")
done
if ((${#missing[@]})); then
  echo "missing Debian packages: ${missing[*]}" >&2
  sudo=()
  [[ $EUID -eq 0 ]] || sudo=(sudo)
  "${sudo[@]}" apt-get update -q
  plan=$(LC_ALL=C apt-get install --simulate -q --no-upgrade "${missing[@]}")
  # A line "Inst NAME [INSTALLED] (NEW ...)" is an upgrade, one without brackets a new package.
  new=$(awk '/^Inst/ && $3 !~ /^\[/ { printf " %s", $2 }' <<<"$plan")
  upgraded=$(awk '/^Inst/ && $3 ~ /^\[/ { printf " %s", $2 }' <<<"$plan")
  echo "installing:$new" >&2
  if [[ -n $upgraded ]]; then
    echo "upgrading, because the new packages require it:$upgraded" >&2
    if [[ -t 0 ]]; then
      read -rp "Continue? [y/N] " answer
      [[ $answer == [yY]* ]] || exit 1
    fi
  fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-upgrade "${missing[@]}"
fi
command -v swift >/dev/null || { echo "Swift 6.3 or newer is needed: https://www.swift.org/install" >&2; exit 1; }

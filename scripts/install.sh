#!/usr/bin/env bash
# install.sh [PACKAGE...]: installs the Debian packages that are missing of those that a build needs, and PACKAGEs. Prints their names
# first. Upgrades no package that is installed already.
set -euo pipefail
missing=()
for package in libsystemd-dev libprotobuf-c-dev protobuf-c-compiler pkg-config "$@"; do
  [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == 'install ok installed' ]] || missing+=("$package")
done
if ((${#missing[@]})); then
  echo "installing these Debian packages and their dependencies: ${missing[*]}" >&2
  sudo=()
  [[ $EUID -eq 0 ]] || sudo=(sudo)
  "${sudo[@]}" apt-get update -q
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-upgrade "${missing[@]}"
fi
command -v swift >/dev/null || { echo "Swift 6.3 or newer is needed: https://www.swift.org/install" >&2; exit 1; }

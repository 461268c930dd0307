#!/usr/bin/env bash
# install.sh [PACKAGE...]: installs the Debian packages that building Waymark needs, and PACKAGEs, if one of them is missing.
set -euo pipefail
packages=(libsystemd-dev libprotobuf-c-dev protobuf-c-compiler pkg-config "$@")
if ! dpkg-query -W -f '${Status}\n' "${packages[@]}" 2>/dev/null | grep -c '^install ok installed$' | grep -qx "${#packages[@]}"; then
  sudo=""
  [[ $EUID -eq 0 ]] || sudo=sudo
  $sudo apt-get update -q
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "${packages[@]}"
fi
command -v swift >/dev/null || { echo "Swift 6.3 or newer is needed: https://www.swift.org/install" >&2; exit 1; }

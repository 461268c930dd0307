#!/usr/bin/env bash
# build.sh [-s]: builds the executable of the packages and wheels, .build-release/release/waymark. The Swift runtime, libprotobuf-c, libstdc++
# and zlib are linked statically; libsystemd and glibc are the system's. Fails if it needs anything else. With -s it has no debugging symbols,
# which take a fifth of the time.
set -euo pipefail
symbols=yes
[[ ${1:-} != -s ]] || symbols=
cd "$(dirname "$0")/../.."
scratch=.build-release
static=$PWD/$scratch/static
mkdir -p "$static"
compiler=$(command -v cc || command -v clang)
# The linker searches this folder before those of the system, and finds only archives in it.
for archive in libprotobuf-c.a libstdc++.a libz.a; do
  path=$("$compiler" -print-file-name="$archive")
  [[ $path == /* ]] || { echo "$archive is not installed" >&2; exit 1; }
  ln -sf "$path" "$static/$archive"
done
sed "s|^Libs:.*|Libs: -L$static -lprotobuf-c|" "$(pkg-config --variable=pcfiledir libprotobuf-c)/libprotobuf-c.pc" >"$static/libprotobuf-c.pc"
mapfile -t options <scripts/release/options
[[ -n $symbols ]] || options+=(-Xswiftc -gnone -Xcc -g0)
# A separate folder, because an ordinary release build links the runtime dynamically.
PKG_CONFIG_PATH=$static${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} \
  swift build "${options[@]}" --scratch-path "$scratch" --product waymark
scripts/release/needed.py "$scratch/release/waymark"

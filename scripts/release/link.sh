#!/usr/bin/env bash
# link.sh [-g] PRODUCT: builds an executable as the package and the wheels have it, .build/static/PRODUCT. The Swift runtime, libprotobuf-c,
# libstdc++ and zlib are linked statically; libsystemd and glibc are the system's. Fails if it needs anything else. With -g it has the
# symbols for a debugger, and is .build-symbols/static/PRODUCT.
set -euo pipefail
scratch=.build
options=()
if [[ $1 == -g ]]; then
  scratch=.build-symbols
  options=(-Xswiftc -g -Xcc -g)
  shift
fi
product=$1
cd "$(dirname "$0")/../.."
scripts/build.sh --scratch-path "$scratch" "${options[@]}" --product "$product"
built=$scratch/release
static=$scratch/static
mkdir -p "$static/archives"
# Two products may be linked at the same time.
exec 9>"$static/lock"
flock 9
compiler=$(command -v cc || command -v clang)
# The linker searches this folder before those of the system, and finds only archives in it.
for archive in libprotobuf-c.a libstdc++.a libz.a; do
  path=$("$compiler" -print-file-name="$archive")
  [[ $path == /* ]] || { echo "$archive is not installed" >&2; exit 1; }
  ln -sf "$path" "$static/archives/$archive"
done
# SwiftPM compiles everything anew for a static runtime, with the same result. Objects name only the libraries of the dynamic one; this
# file names the others. SwiftPM calls the main function of an executable that tests can import by the executable's name.
echo 'import Foundation' >"$static/foundation.swift"
swiftc -static-stdlib -parse-as-library "$static/foundation.swift" -o "$static/$product" -L "$static/archives" \
  -Xlinker --gc-sections -Xlinker --defsym -Xlinker "main=${product//-/_}_main" -Xlinker -z -Xlinker now \
  "@$built/$product.product/Objects.LinkFileList" -lprotobuf-c -lz -lstdc++ -lsystemd -lm
rm -rf "$static"/*.resources
cp -r "$built"/*.resources "$static/"
scripts/release/needed.py "$static/$product"

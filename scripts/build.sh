#!/usr/bin/env bash
# build.sh [OPTIONS]: builds into .build/release: the programs, with --build-tests also the tests, or what --product or --target names. OPTIONS
# are for `swift build`. There is one kind of build, so that nothing is compiled twice, and what is tested is what ships: optimized and
# testable, each module compiled as a whole, without symbols for a debugger.
set -euo pipefail
cd "$(dirname "$0")/.."
# Products are named, because SwiftPM otherwise builds all targets of all packages: a second HTTP client, TLS and cryptography that nothing uses.
products=(waymark waymarkd)
options=()
for word; do
  case $word in
    --build-tests)
      # The tests need the programs.
      products=(waymarkPackageTests)
      continue
      ;;
    --product | --target) products=() ;;
  esac
  options+=("$word")
done
# Otherwise SwiftPM names the package's traits in another order each time, and compiles every module again for that.
export SWIFT_DETERMINISTIC_HASHING=1
build=(swift build -c release -Xswiftc -enable-testing -Xswiftc -no-emit-module-separately-wmo -Xswiftc -gnone -Xcc -g0 "${options[@]}")
[[ ${#products[@]} -gt 0 ]] || exec "${build[@]}"
for product in "${products[@]}"; do "${build[@]}" --product "$product"; done

#!/usr/bin/env bash
# fuzz.sh [RUNS [SECONDS]]: runs the libFuzzer targets of Tests/Fuzz, with the address sanitizer, from their committed
# corpora: RUNS inputs each (default 100 000), SECONDS at most (default 60). New inputs are not kept; an input that crashes a
# target is written to .build-fuzz. Builds with the compiler alone, because instrumented modules must not mix with the package's.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-100000}
seconds=${2:-60}
build=.build-fuzz
mkdir -p "$build"

instrument=(-sanitize=fuzzer,address)
swift=(swiftc -parse-as-library -swift-version 6 -O -wmo -g -package-name waymark -I "$build"
  -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
  -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault
  -enable-upcoming-feature InferIsolatedConformances -enable-upcoming-feature ImmutableWeakCaptures
  -I Sources/CProtobufC -I Sources/CWaymarkWire/include "${instrument[@]}")

objects=()
for source in Sources/CWaymarkWire/waymark/v1/*.c; do
  object=$build/$(basename "$source").o
  clang -c -O1 -g -fsanitize=address,fuzzer-no-link -I Sources/CWaymarkWire/include "$source" -o "$object"
  objects+=("$object")
done
# The client without its driver, which needs SwiftNIO: Tests/Fuzz/NoDriver.swift takes its place.
[[ -e .build/checkouts/swift-log ]] || swift package resolve
swiftc -parse-as-library -swift-version 6 -O -wmo -package-name swift-log -module-name Logging -emit-module \
  -emit-module-path "$build/Logging.swiftmodule" -emit-object -o "$build/Logging.o" \
  $(find .build/checkouts/swift-log/Sources/Logging -name '*.swift' | sort)
objects+=("$build/Logging.o")
for module in WaymarkModel WaymarkProtocol WaymarkCodec WaymarkClient; do
  mapfile -t sources < <(find "Sources/$module" -name '*.swift' ! -name ChannelDriver.swift ! -name ConnectFailure.swift | sort)
  [[ $module != WaymarkClient ]] || sources+=(Tests/Fuzz/NoDriver.swift)
  "${swift[@]}" -enable-testing -module-name "$module" -emit-module -emit-module-path "$build/$module.swiftmodule" \
    -emit-object -o "$build/$module.o" "${sources[@]}"
  objects+=("$build/$module.o")
done

export SWIFT_BACKTRACE=enable=no
# Further sources of each target.
declare -A beside=([FuzzSession]="" [FuzzClient]=Tests/WaymarkClientTests/Machines/DrivenPeer.swift
  [FuzzCodec]="Tests/WaymarkCodecTests/SlowLine.swift Tests/WaymarkCodecTests/WireWriter.swift")
for target in FuzzCodec FuzzSession FuzzClient; do
  "${swift[@]}" -module-name "$target" -emit-executable -o "$build/$target" \
    -emit-module -emit-module-path "$build/$target.swiftmodule" "Tests/Fuzz/$target.swift" ${beside[$target]} \
    "${objects[@]}" -lprotobuf-c
  found=$build/$target-found
  rm -rf "$found"
  mkdir "$found"
  "$build/$target" -runs="$runs" -max_total_time="$seconds" -max_len=4096 -use_value_profile=1 -seed=1 \
    -rss_limit_mb=2048 -print_final_stats=1 -dict=Tests/Fuzz/headers.dict \
    -artifact_prefix="$build/" "$found" "Tests/Fuzz/Corpus/$target"
done

#!/usr/bin/env bash
# sanitize.sh [-b] thread|address [OPTIONS]: builds with that sanitizer, beside the usual build, and runs the tests of the code that
# it can say something about: threads and tasks, or memory that the compiler does not check. With -b it only builds. Options go to
# `swift test`. Without LiveEngines: an HTTP client and TLS are most of what would have to be built, and are not ours.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
build_only=
if [[ ${1:-} == -b ]]; then
  build_only=yes
  shift
fi
sanitizer=${1:-}
case $sanitizer in
  # Modules with tasks, actors, locks or event loops, and the programs that are made of them.
  thread) export WAYMARK_TESTS=ProcessIOTests,WaymarkTransportTests,WaymarkClientTests,WaymarkDaemonTests,WaymarkCommandLineTests,EndToEndTests,LoadTests ;;
  # Modules with unsafe code, and the programs, which get hostile bytes.
  address) export WAYMARK_TESTS=SystemdTests,ProcessIOTests,WaymarkProtocolTests,WaymarkCodecTests,WaymarkGatewayTests,WaymarkTransportTests,WaymarkDaemonTests,EndToEndTests,WaymarkSimulationTests ;;
  *)
    echo "usage: sanitize.sh [-b] thread|address [OPTIONS]" >&2
    exit 64
    ;;
esac
shift
# Why: an enumeration keeps its case in spare bits of a pointer, and what such a pointer holds looks leaked.
# And freed memory is kept only for a while: a test looks at how much the daemon takes.
export ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=16"
export TSAN_OPTIONS="suppressions=$PWD/Tests/thread-sanitizer.txt"
# Everything takes several times as long: all tests at once would miss the deadlines of the protocol.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4}
unset WAYMARK_VALHALLA
# Packages that are left out here must stay in Package.resolved.
[[ -e Package.resolved ]] || swift package resolve
options=(--disable-default-traits --only-use-versions-from-resolved-file --sanitize="$sanitizer"
  --scratch-path ".build-$sanitizer")
swift build --build-tests "${options[@]}"
[[ -n $build_only ]] || swift test --skip-build "${options[@]}" "$@"

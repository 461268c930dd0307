#!/usr/bin/env bash
# sanitize.sh [-a | -m MODULES] thread|address [OPTIONS]: builds with that sanitizer in a separate folder, and runs the tests of the code
# that it can check: the modules with threads and tasks, or those with unsafe memory access. -a adds the programs and everything that they
# are built on, which takes much longer; -m runs only these test modules, separated by commas. OPTIONS are for `swift test`.
# Built without traits, because the HTTP server would take more time than what it is for.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
all=
modules=
while getopts am: option; do
  case $option in
    a) all=yes ;;
    m) modules=$OPTARG ;;
    *) exit 64 ;;
  esac
done
shift $((OPTIND - 1))
sanitizer=${1:-}
case $sanitizer in
  # Modules with tasks, actors, locks or event loops.
  thread) export WAYMARK_TESTS=ProcessIOTests,WaymarkTransportTests,WaymarkClientTests${all:+,WaymarkDaemonTests,WaymarkCommandLineTests,EndToEndTests,LoadTests} ;;
  # Modules with unsafe code. The programs get hostile bytes.
  address) export WAYMARK_TESTS=SystemdTests,ProcessIOTests,WaymarkCodecTests,WaymarkTransportTests${all:+,WaymarkProtocolTests,WaymarkGatewayTests,WaymarkDaemonTests,EndToEndTests,WaymarkSimulationTests} ;;
  *)
    echo "usage: sanitize.sh [-a | -m MODULES] thread|address [OPTIONS]" >&2
    exit 64
    ;;
esac
[[ -z $modules ]] || export WAYMARK_TESTS=$modules
shift
# Why without leak detection: Swift stores enum cases in spare bits of pointers, so that referenced memory looks leaked.
# The quarantine is small because a test checks the daemon's memory.
export ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=16"
export TSAN_OPTIONS="suppressions=$PWD/Tests/thread-sanitizer.txt"
# Everything takes several times as long; if all tests ran at once, they would miss the deadlines of the protocol.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4}
unset WAYMARK_VALHALLA
# Packages that this build does not use must stay in Package.resolved.
[[ -e Package.resolved ]] || swift package resolve
# Whole modules, because nothing is built again: that takes a third less.
options=(--disable-default-traits -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 --only-use-versions-from-resolved-file --sanitize="$sanitizer"
  --scratch-path ".build-$sanitizer")
swift build --product waymarkPackageTests "${options[@]}"
# Without the drives by the real clock: under a sanitizer a peer is later than their times allow.
swift test --skip-build "${options[@]}" --skip ClockTests "$@"

#!/usr/bin/env bash
# sanitize.sh thread|address [OPTIONS]: builds with that sanitizer, beside the usual build, and passes the tests. Options go
# to `swift test`. Without LiveEngines: an HTTP client and TLS are most of what would have to be built, and are not ours.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
sanitizer=$1
shift
# Why: an enumeration keeps its case in spare bits of a pointer, and what such a pointer holds looks leaked.
# And freed memory is kept only for a while: a test looks at how much the daemon takes.
export ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=16"
export TSAN_OPTIONS="suppressions=$PWD/Tests/thread-sanitizer.txt"
# Everything takes several times as long: all tests at once would miss the deadlines of the protocol.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-4}
unset WAYMARK_VALHALLA
# What is left out is not to be forgotten there.
[[ -e Package.resolved ]] || swift package resolve
exec swift test --disable-default-traits --only-use-versions-from-resolved-file --sanitize="$sanitizer" --scratch-path ".build-$sanitizer" "$@"

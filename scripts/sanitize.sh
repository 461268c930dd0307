#!/usr/bin/env bash
# sanitize.sh thread|address [OPTIONS]: builds with that sanitizer, beside the usual build, and passes the tests. Options go
# to `swift test`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
sanitizer=$1
shift
export TSAN_OPTIONS="suppressions=$PWD/Tests/thread-sanitizer.txt"
exec swift test --sanitize="$sanitizer" --scratch-path ".build-$sanitizer" "$@"

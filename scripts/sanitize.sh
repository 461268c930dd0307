#!/usr/bin/env bash
# sanitize.sh thread|address [OPTIONS]: builds with that sanitizer, beside the usual build, and passes the tests. Options go
# to `swift test`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
sanitizer=$1
shift
exec swift test --sanitize="$sanitizer" --scratch-path ".build-$sanitizer" "$@"

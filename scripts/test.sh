#!/usr/bin/env bash
# test.sh [OPTIONS]: installs what is missing, builds, and passes the tests. Options go to `swift test`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
exec swift test "$@"

#!/usr/bin/env bash
# test.sh [OPTIONS]: installs what is missing, builds, and passes the tests. Options go to `swift test`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
# All at once, hundreds of tests would keep each other waiting, past the deadlines of the protocol.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$(($(nproc) * 4))}
exec swift test "$@"

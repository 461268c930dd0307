#!/usr/bin/env bash
# test.sh [OPTIONS]: installs missing Debian packages (scripts/install.sh), builds, and runs the tests. OPTIONS are for the runner of the
# tests: --filter and --skip take a part of a test's name, or a regular expression.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
scripts/build.sh --build-tests
# If all tests ran at once, they would miss the deadlines of the protocol.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$(($(nproc) * 4))}
exec .build/release/waymarkPackageTests.xctest --testing-library swift-testing "$@"

#!/usr/bin/env bash
# build.sh [OPTIONS]: builds into .build/release. OPTIONS are for `swift build`: --build-tests also builds the tests. There is one kind of
# build, so that nothing is compiled twice, and what is tested is what ships: optimized and testable, each module compiled as a whole, without
# symbols for a debugger.
set -euo pipefail
cd "$(dirname "$0")/.."
# Otherwise SwiftPM names the package's traits in another order each time, and compiles every module again for that.
export SWIFT_DETERMINISTIC_HASHING=1
exec swift build -c release -Xswiftc -enable-testing -Xswiftc -no-emit-module-separately-wmo -Xswiftc -gnone -Xcc -g0 "$@"

#!/usr/bin/env bash
# epoch.sh: prints the time of all files in a package, in seconds since 1970: SOURCE_DATE_EPOCH, or else the time of this tree's commit. So
# two packages of one commit are alike: see scripts/check/alike.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
echo "${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}"

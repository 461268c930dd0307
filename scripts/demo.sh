#!/usr/bin/env bash
# demo.sh [OPTIONS]: installs missing Debian packages (scripts/install.sh), builds, and runs `waymark demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
scripts/build.sh --product waymark
exec .build/release/waymark demo "$@"

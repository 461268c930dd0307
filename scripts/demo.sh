#!/usr/bin/env bash
# demo.sh [OPTIONS]: installs what is missing, builds, and runs `waymark demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install.sh
exec swift run -c release waymark demo "$@"

#!/usr/bin/env bash
# version.sh: prints the version of this tree, which Sources/WaymarkProtocol/Software.swift defines.
set -euo pipefail
cd "$(dirname "$0")/../.."
sed -n 's/.*static let version = "\(.*\)".*/\1/p' Sources/WaymarkProtocol/Software.swift

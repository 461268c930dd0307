#!/usr/bin/env bash
# generate-wire.sh [--check]: generates Sources/CWaymarkWire from Protos with protoc-c; --check only compares it with the committed files.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v protoc-c >/dev/null || { echo "protoc-c is missing: apt-get install protobuf-c-compiler" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

protoc-c -IProtos --c_out="$work" Protos/waymark/v1/*.proto
target=$work/CWaymarkWire
mkdir -p "$target/include/waymark/v1" "$target/waymark/v1"
mv "$work"/waymark/v1/*.pb-c.h "$target/include/waymark/v1/"
mv "$work"/waymark/v1/*.pb-c.c "$target/waymark/v1/"

# The umbrella header. Swift does not import the generated descriptors, so each message gets a function that returns its
# descriptor.
{
  echo '// Made by scripts/generate-wire.sh from Protos. Do not edit.'
  echo '#pragma once'
  for header in "$target"/include/waymark/v1/*.pb-c.h; do echo "#include \"waymark/v1/$(basename "$header")\""; done
  echo
  sed -n 's/^extern const ProtobufCMessageDescriptor waymark__v1__\(.*\)__descriptor;$/\1/p' \
    "$target"/include/waymark/v1/*.pb-c.h |
    while read -r name; do
      echo "static inline const ProtobufCMessageDescriptor *_Nonnull waymark_${name}_descriptor(void) {"
      echo "    return &waymark__v1__${name}__descriptor;"
      echo '}'
    done
} >"$target/include/CWaymarkWire.h"
printf 'module CWaymarkWire {\n    header "CWaymarkWire.h"\n    export *\n}\n' >"$target/include/module.modulemap"

if [[ ${1:-} == --check ]]; then
  diff -r "$target" Sources/CWaymarkWire >&2 || { echo "Sources/CWaymarkWire is stale: run scripts/generate-wire.sh" >&2; exit 1; }
else
  rm -rf Sources/CWaymarkWire
  mv "$target" Sources/CWaymarkWire
fi

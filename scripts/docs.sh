#!/usr/bin/env bash
# docs.sh [FOLDER]: builds the documentation of the library products into FOLDER (default .build/docs) with the toolchain's docc. Fails on
# any warning. The package itself has no dependency for it.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-.build/docs}
products=(WaymarkModel WaymarkClient WaymarkRoutes WaymarkRig)
tools=$(dirname "$(readlink -f "$(command -v swift)")")

for product in "${products[@]}"; do scripts/build.sh --quiet --target "$product"; done
build=.build/release
# The modules of C that the products are built on: their module maps, written by hand or by SwiftPM.
includes=(-I "$build/Modules" -Xcc -ISources/CWaymarkWire/include)
while IFS= read -r map; do includes+=(-Xcc "-fmodule-map-file=$map"); done < <(
  find "$build/" -mindepth 2 -maxdepth 2 -name module.modulemap ! -path '*-tool.build/*'
  find Sources .build/checkouts/*/Sources -name module.modulemap)

rm -rf "$out"
for product in "${products[@]}"; do
  mkdir -p "$out/symbols/$product"
  "$tools/swift-symbolgraph-extract" -module-name "$product" -target "$(uname -m)-unknown-linux-gnu" "${includes[@]}" \
    -experimental-allowed-reexported-modules=WaymarkLint -minimum-access-level public -skip-inherited-docs -output-dir "$out/symbols/$product"
  catalog=Sources/$product/$product.docc
  [[ -d $catalog ]] || catalog=
  "$tools/docc" convert ${catalog:+"$catalog"} --additional-symbol-graph-dir "$out/symbols/$product" \
    --fallback-display-name "$product" --fallback-bundle-identifier "$product" --warnings-as-errors \
    --output-dir "$out/$product.doccarchive"
done
echo "$out: ${products[*]}"

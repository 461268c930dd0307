#!/usr/bin/env bash
# stage.sh BUILD ROOT: copies all files of an installation below ROOT: the executable from the folder BUILD, and the units,
# settings, completions, manual pages and documents from this tree.
set -euo pipefail
[[ $# -eq 2 ]] || { sed -n '2,3s/^# //p' "$0" >&2; exit 64; }
build=$(realpath "$1")
root=$(realpath "$2")
cd "$(dirname "$0")/../.."
put() { install -D -m "$1" "$2" "$root/$3"; }

# One executable contains both programs and chooses by the name it is started with. It finds its routes and profiles beside itself.
put 755 "$build/waymark" usr/lib/waymark/waymark
cp -r --no-preserve=mode "$build/waymark_WaymarkCommandLine.resources" "$build/waymark_WaymarkInspector.resources" \
    "$root/usr/lib/waymark/"
mkdir -p "$root/usr/bin" "$root/usr/sbin"
ln -sf ../lib/waymark/waymark "$root/usr/bin/waymark"
ln -sf ../lib/waymark/waymark "$root/usr/sbin/waymarkd"

for unit in systemd/*.service systemd/*.socket; do put 644 "$unit" "lib/systemd/system/$(basename "$unit")"; done
put 644 systemd/waymark.sysusers usr/lib/sysusers.d/waymark.conf
put 644 systemd/waymark.tmpfiles usr/lib/tmpfiles.d/waymark.conf
put 644 systemd/waymark.catalog usr/lib/systemd/catalog/waymark.catalog
put 644 systemd/waymarkd.yaml etc/waymark/waymarkd.yaml

for program in bin/waymark sbin/waymarkd; do
  name=$(basename "$program")
  while read -r shell path; do
    mkdir -p "$root/$(dirname "$path")"
    # Completions are sourced, never executed, so they get no line with an interpreter.
    "$root/usr/$program" --generate-completion-script "$shell" | sed '1{/^#!/d}' >"$root/$path"
    chmod 644 "$root/$path"
  done <<PATHS
bash usr/share/bash-completion/completions/$name
zsh usr/share/zsh/vendor-completions/_$name
fish usr/share/fish/vendor_completions.d/$name.fish
PATHS
done

put 644 Docs/man/waymarkd.8 usr/share/man/man8/waymarkd.8
mkdir -p "$root/usr/share/man/man1" "$root/usr/share/man/man5"
# shellcheck disable=SC2016
scripts/release/manual.py waymark 1 "be a navigation client, a vehicle, or both" '`waymark` COMMAND [OPTION ...]' \
  Docs/command-line.md >"$root/usr/share/man/man1/waymark.1"
# shellcheck disable=SC2016
scripts/release/manual.py waymarkd.yaml 5 "settings of waymarkd" '`/etc/waymark/waymarkd.yaml`' Docs/configuration.md \
  >"$root/usr/share/man/man5/waymarkd.yaml.5"
chmod 644 "$root"/usr/share/man/man[15]/waymark*

# README.md and the documents are in the same folder, so links lose one level. The files that they link to are copied as well.
documents=usr/share/doc/waymark
mkdir -p "$root/$documents"
for document in README.md CHANGELOG.md CONTRIBUTING.md Docs/*.md; do
  sed -e 's/](Docs\//](/g' -e 's/](\.\.\//](/g' "$document" >"$root/$documents/$(basename "$document")"
  chmod 644 "$root/$documents/$(basename "$document")"
done
for folder in Docs/decisions Docs/examples Docs/images Docs/performance Protos; do
  cp -r --no-preserve=mode "$folder" "$root/$documents/"
done
sed -i 's/](..\/..\/Docs\//](..\/..\//g' "$root/$documents/Protos/vectors/README.md"
# The articles, where Docs/client.md links to them.
cp -r --parents --no-preserve=mode Sources/WaymarkClient/WaymarkClient.docc "$root/$documents/"
# Executables that tests have built in that folder.
rm -rf "$root/$documents/examples/"{cluster,navigate,__pycache__,python/__pycache__}
for file in systemd/monitoring/*; do put 644 "$file" "$documents/monitoring/$(basename "$file")"; done
for example in systemd/*.conf; do put 644 "$example" "$documents/examples/$(basename "$example")"; done
scripts/release/links.py "$root/$documents"

#!/usr/bin/env bash
# stage.sh BUILD ROOT: puts what an installation consists of below ROOT: the executables from the folder BUILD of a build,
# and the units, settings, completions, manual pages and documents from this tree.
set -euo pipefail
[[ $# -eq 2 ]] || { sed -n '2,3s/^# //p' "$0" >&2; exit 64; }
build=$(realpath "$1")
root=$(realpath "$2")
cd "$(dirname "$0")/.."
put() { install -D -m "$1" "$2" "$root/$3"; }

put 755 "$build/waymarkd" usr/sbin/waymarkd
# The command finds its routes and profiles beside itself.
put 755 "$build/waymark" usr/lib/waymark/waymark
cp -r --no-preserve=mode "$build/waymark_WaymarkCommandLine.resources" "$root/usr/lib/waymark/"
mkdir -p "$root/usr/bin"
ln -sf ../lib/waymark/waymark "$root/usr/bin/waymark"

for unit in systemd/*.service systemd/*.socket; do put 644 "$unit" "lib/systemd/system/$(basename "$unit")"; done
put 644 systemd/waymark.sysusers usr/lib/sysusers.d/waymark.conf
put 644 systemd/waymark.tmpfiles usr/lib/tmpfiles.d/waymark.conf
put 644 systemd/waymark.catalog usr/lib/systemd/catalog/waymark.catalog
put 644 systemd/waymarkd.yaml etc/waymark/waymarkd.yaml
for example in systemd/*.conf; do put 644 "$example" "usr/share/doc/waymark/examples/$(basename "$example")"; done

for program in waymark waymarkd; do
  while read -r shell path; do
    mkdir -p "$root/$(dirname "$path")"
    # bash's are sourced, never run: without the first line that says who would run them.
    "$build/$program" --generate-completion-script "$shell" | sed '1{/^#!/d}' >"$root/$path"
    chmod 644 "$root/$path"
  done <<PATHS
bash usr/share/bash-completion/completions/$program
zsh usr/share/zsh/vendor-completions/_$program
fish usr/share/fish/vendor_completions.d/$program.fish
PATHS
done

put 644 Docs/man/waymarkd.8 usr/share/man/man8/waymarkd.8
mkdir -p "$root/usr/share/man/man1" "$root/usr/share/man/man5"
scripts/manual.py waymark 1 "be a navigation client, a vehicle, or both" Docs/command-line.md \
  >"$root/usr/share/man/man1/waymark.1"
scripts/manual.py waymarkd.yaml 5 "settings of waymarkd" Docs/configuration.md >"$root/usr/share/man/man5/waymarkd.yaml.5"
chmod 644 "$root"/usr/share/man/man[15]/waymark*
for document in README.md CHANGELOG.md Docs/*.md; do put 644 "$document" "usr/share/doc/waymark/$(basename "$document")"; done

#!/usr/bin/env bash
# repeat_gallery.sh [WAYMARK [SEEDS]]: runs the scenarios that ship with the seeds 1 to SEEDS (default 100), each in two processes,
# in virtual time. Every scenario must pass, and both processes must have the same trace: every frame and event.
set -euo pipefail
cd "$(dirname "$0")/../.."
waymark=${1:-.build/release/waymark}
seeds=${2:-100}
if [ ! -x "$waymark" ]; then
  echo "$waymark is no program; build it with scripts/build.sh, or name another: $0 WAYMARK" >&2
  exit 2
fi
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

# run SEED NAME: the trace has every frame and every event, with its instant in virtual time.
run() { "$waymark" test @gallery -j 1 --seed "$1" --trace "$output/$2.jsonl" >"$output/$2.txt" 2>&1; }

failed=0
for seed in $(seq "$seeds"); do
  run "$seed" first & first=$!
  run "$seed" second & second=$!
  status=0
  wait "$first" || status=$?
  wait "$second" || status=$?
  if [ "$status" -ne 0 ]; then
    echo "seed $seed: a scenario failed (status $status); $waymark test @gallery --seed $seed"
    tail -n 20 "$output/first.txt"
    failed=$((failed + 1))
  elif ! cmp -s "$output/first.jsonl" "$output/second.jsonl"; then
    echo "seed $seed: two processes differ:"
    diff "$output/first.jsonl" "$output/second.jsonl" | head -n 4 | cut -c 1-400 || true
    failed=$((failed + 1))
  fi
done
echo "gallery: $((seeds - failed)) of $seeds seeds passed, and gave the same in two processes"
[ "$failed" -eq 0 ]

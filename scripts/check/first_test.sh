#!/usr/bin/env bash
# first_test.sh [FOLDER]: runs the commands of "From nothing to a red test" in Docs/testing.md, in a new folder, with the wheels of FOLDER
# (default: .build-package), and with Debian's package, unpacked. Fails unless both tests name the wrong maneuver. Prints the seconds.
# Then checks in that environment that tests in Python find the programs and keep recordings. pip installs pytest and mcap from PyPI.
set -euo pipefail
folder=$(realpath "${1:-$(dirname "$0")/../../.build-package}")
cd "$(dirname "$0")/../.."
tree=$PWD
commands=$(awk '/^```sh$/ { inside = 1; next } /^```$/ && inside { exit } inside' Docs/testing.md)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$folder"/waymark_nav*.whl "$work/"
cd "$work"
# The programs must be those of the wheels.
unset WAYMARK WAYMARKD WAYMARK_RESOURCES PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1

# red NAME COMMAND...: runs a command that must end with status 1 and name the wrong maneuver; prints how long it took.
red() {
  local name=$1 began=$EPOCHREALTIME status=0
  shift
  "$@" >out 2>&1 || status=$?
  local ended=$EPOCHREALTIME
  if ((status != 1)) || ! grep -Eq 'next\.type +rightTurn +expected leftTurn' out || ! grep -Eq 'lanes\.highlighted +\[4\] +expected \[3\]' out; then
    cat out
    echo "$name: status $status, or the report does not name the wrong maneuver" >&2
    exit 1
  fi
  awk -v name="$name" -v seconds="$((10#${ended/./} - 10#${began/./}))" 'BEGIN { printf "%s: red after %.1f s\n", name, seconds / 1e6 }'
}

red "pip, a scenario, pytest" bash -ec "$commands"

# The newest, if there are several.
dpkg-deb -x "$(find "$folder" -name 'waymark_[0-9]*.deb' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-)" package
red "waymark test of Debian's package" package/usr/bin/waymark test turn.scenario.yaml

rig/bin/waymark --version
rig/bin/waymarkd --version
cp "$tree"/Docs/examples/python/test_{drive,rejections}.py .
cat >test_turn.py <<'END'
async def test_turn(rig, recording):
    car = await rig.vehicle("car")
    await rig.client("nav", drive="heidelberg-lanes", start_at="600m", speed=2)
    await car.eventually({"next.id": 4, "lanes.count": 4}, within="20s")
    await car.eventually({"next.type": "leftTurn", "lanes.highlighted": [3]}, within="1s")
END
rig/bin/pytest -q -p no:cacheprovider test_drive.py test_rejections.py
red "a test in Python" rig/bin/pytest -q -p no:cacheprovider test_turn.py
show=$(grep '^waymark recording show .waymark/' out)
rig/bin/${show} >shown
grep -q 'maneuver 4 is next' shown
echo "kept: ${show##* }"

#!/usr/bin/env bash
# The Python package as people get it: a wheel, built once, installed into clean virtual environments, used, tested, type-checked. Skips, and says so, where
# Python 3.10 or its packages cannot be had. SOTTOVOCE_BINARY names the program that documents are compared with. `check.sh wheel` stops
# once the wheel works in an environment that has nothing else.
set -euo pipefail
cd "$(dirname "$0")"
# What is missing in a word, and why: told to who counts skipped tests, too.
skip() {
  printf 'skipped: %s\n' "$2"
  if [ -n "${SOTTOVOCE_SKIPS:-}" ]; then printf '%s\tbindings/python/check.sh\t%s\n' "$1" "$2" >>"$SOTTOVOCE_SKIPS"; fi
  exit 0
}
took() { printf '%s: %d s\n' "$1" $((SECONDS - begun)); begun=$SECONDS; }
begun=$SECONDS

python=${PYTHON:-python3}
"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || skip python "no Python 3.10 with venv and pip"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv" 2>/dev/null || skip python "no virtual environment could be made"
install() { "$folder/venv/bin/python" -m pip --quiet --disable-pip-version-check --no-cache-dir install "$@"; }
# Whether so many GiB are free where packages are unpacked.
room() { [ "$(df -Pk "$folder" | awk 'NR == 2 { print int($4 / 1048576) }')" -ge "$1" ]; }
install 'maturin>=1.7,<2' || skip packages "maturin cannot be installed"

# With nodes: everything that the package has. Libraries that the repository has compiled are not compiled again.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../../target}
cargo fetch --quiet --locked 2>"$folder/fetched" || {
  cat "$folder/fetched" >&2
  # A list that has to change is no matter of the network.
  if grep -q 'lock file' "$folder/fetched"; then exit 1; fi
  skip packages "what the wheel is compiled from cannot be had"
}
"$folder/venv/bin/maturin" build --release --features node --locked --out "$folder/wheels"
wheel=$(ls "$folder"/wheels/*.whl)
took "the wheel"

# Alone in an environment that has nothing else: what it needs is in it, and what it could use is named.
"$python" -m venv "$folder/clean"
"$folder/clean/bin/python" -m pip --quiet --disable-pip-version-check install --no-index "$wheel"
tests=$PWD/tests
(cd "$folder" && clean/bin/python "$tests/alone.py")
if [ "${1:-}" = wheel ]; then exit; fi

# With everything it can use.
install "$wheel[all,test]" || skip packages "packages for the tests cannot be installed; the wheel itself works"
# PyTorch is large: the one without graphics cards, where that can be had; the other takes 6 GiB, and as much again on the way.
install --retries 0 --timeout 20 --index-url https://download.pytorch.org/whl/cpu torch 2>/dev/null ||
  { room 24 && install torch; } ||
  printf 'PyTorch cannot be installed, or has no room: its tests and a notebook are skipped\n'
install dp-accounting || printf 'dp-accounting cannot be installed: numbers are not held against its\n'
took "packages"
"$folder/venv/bin/python" -m pytest -q
took "tests"
# Printed and no reason to fail: a machine that others use says nothing of ours. By hand it fails above its limits.
if [ -n "${SOTTOVOCE_BINARY:-}" ]; then "$folder/venv/bin/python" benches/overhead.py || printf 'the bindings took longer than they may, on this machine as it is now\n'; fi

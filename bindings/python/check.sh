#!/usr/bin/env bash
# The Python package as people get it: a wheel, built and installed into a clean virtual environment, used, tested, type-checked. Skips, and says so, where
# Python 3.10 or its packages cannot be had. SOTTOVOCE_BINARY names the program that documents are compared with.
set -euo pipefail
cd "$(dirname "$0")"
skip() { printf 'skipped: %s\n' "$*"; exit 0; }

python=${PYTHON:-python3}
"$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || skip "no Python 3.10 with venv"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv" || skip "no virtual environment could be made"
pip() { "$folder/venv/bin/python" -m pip --quiet --disable-pip-version-check "$@"; }
pip install 'maturin>=1.7,<2' || skip "maturin cannot be installed"

# What is compiled stays for the next time.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../../target/python}

# The wheel, alone in an environment that has nothing else: what it needs is in it.
"$folder/venv/bin/maturin" build --release --out "$folder/wheels"
"$python" -m venv "$folder/clean"
"$folder/clean/bin/python" -m pip --quiet --disable-pip-version-check install --no-index "$folder"/wheels/*.whl
(cd "$folder" && clean/bin/python -c 'import sottovoce; print(sottovoce.ask("account", "rumor", peers=40, curious=4).guarantees[0])')

# With everything it can use.
wheel=$(ls "$folder"/wheels/*.whl)
pip install "$wheel[all,test]" || skip "packages for the tests cannot be installed; the wheel itself works"
"$folder/venv/bin/python" -m pytest -q
if [ -n "${SOTTOVOCE_BINARY:-}" ]; then "$folder/venv/bin/python" benches/overhead.py; fi

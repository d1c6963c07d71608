"""The crates as packages: what a registry asks for, and that each holds what it needs and nothing large."""

import json
import re
import shutil
from pathlib import Path

from tools import ROOT, TARGET, Refused, run, say

FIELDS = ("description", "license", "readme", "rust_version", "keywords", "categories")
# The largest file and the largest package, in bytes before compression.
FILE, PACKAGE = 256 * 1024, 2 * 1024 * 1024
# Files of a program's text that lie elsewhere: `include_str!("../..")`, `#[path = "../.."]`, `CARGO_MANIFEST_DIR` with `..`.
OUTSIDE = re.compile(r'(?:include(?:_str|_bytes)?!\s*\(\s*|#\[path\s*=\s*)"((?:\.\./)+)')
ABOVE = re.compile(r'CARGO_MANIFEST_DIR"\)[^;]{0,40}(?:\.\.|\.parent\(\))')


def crates() -> list[dict]:
    """The crates of the workspace that are published, as cargo describes them."""
    metadata = run("cargo", "metadata", "--format-version", "1", "--no-deps", "--locked", quiet=True)
    published = (crate for crate in json.loads(metadata)["packages"] if crate["publish"] != [])
    return sorted(published, key=lambda crate: crate["name"])


def version(all_crates: list[dict]) -> str:
    """The version, which all share."""
    found = {crate["version"] for crate in all_crates}
    if len(found) != 1:
        raise Refused(f"crates have versions {', '.join(sorted(found))}: all are released together, under one")
    return found.pop()


def faults(all_crates: list[dict]) -> list[str]:
    """All that is wrong, as sentences."""
    one = version(all_crates)
    wrong = stated(one)
    for crate in all_crates:
        name = crate["name"]
        wrong += [f"{name}: `{field}` is missing in Cargo.toml" for field in FIELDS if not crate.get(field)]
        wrong += [
            f"{name}: its dependency {other['name']} has no version beside its path: write version = \"{one}\""
            for other in crate["dependencies"]
            if other.get("path") and other["kind"] != "dev" and other["req"] != f"^{one}"
        ]
        wrong += [f"{name}: {fault}" for fault in contents(crate)]
    return wrong


def stated(one: str) -> list[str]:
    """Other places that state the version."""
    places = {
        "CITATION.cff": rf"^version: {re.escape(one)}$",
        "bindings/python/Cargo.toml": rf'^version = "{re.escape(one)}"$',
        "fuzz/Cargo.toml": rf'^sottovoce-node = .*version = "{re.escape(one)}"',
    }
    return [
        f"{path}: does not state version {one}"
        for path, pattern in places.items()
        if not re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    ]


def contents(crate: dict) -> list[str]:
    """What is missing in a package, what is too large, and what reaches beyond it."""
    here = Path(crate["manifest_path"]).parent
    listed = run("cargo", "package", "--list", "--allow-dirty", "-p", crate["name"], quiet=True).split()
    wrong = [f"{needed} is not in the package" for needed in ("LICENSE-MIT", "LICENSE-APACHE", "README.md") if needed not in listed]
    files = {name: here / name for name in listed if (here / name).is_file()}
    sizes = {name: path.stat().st_size for name, path in files.items()}
    wrong += [f"{name} has {size} bytes, more than {FILE}: exclude it" for name, size in sizes.items() if size > FILE]
    if sum(sizes.values()) > PACKAGE:
        wrong.append(f"the package has {sum(sizes.values())} bytes, more than {PACKAGE}: exclude what is not needed")
    for name in (name for name in files if name.endswith(".rs")):
        if reaches_out(name, files[name].read_text(encoding="utf-8")):
            wrong.append(f"{name} needs a file outside the crate: move that file, or exclude this one")
    return wrong


def reaches_out(name: str, text: str) -> bool:
    """Whether a source file names a file that its package cannot hold."""
    depth = name.count("/")
    return bool(ABOVE.search(text)) or any(len(up.group(1)) // 3 > depth for up in OUTSIDE.finditer(text))


def pack(place: Path, verify: bool) -> None:
    """All crates as files of a registry."""
    say("crates ...")
    names = [word for crate in crates() for word in ("-p", crate["name"])]
    words = ["cargo", "package", "--locked", *names] + ([] if verify else ["--no-verify"])
    run(*words, quiet=not verify, CARGO_TARGET_DIR=str(TARGET))
    place.mkdir()
    for crate in crates():
        file = f"{crate['name']}-{crate['version']}.crate"
        shutil.copyfile(TARGET / "package" / file, place / file)

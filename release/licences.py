"""Licences of everything that is compiled in: allowed ones only, and their texts in one file.

`release/licences.py` prints the list.
"""

import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from tools import ROOT, run

# Compatible with being handed on under MIT or Apache-2.0, source or binary, with their notices.
ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-1-Clause", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0",
    "CC0-1.0", "CDLA-Permissive-2.0", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Unlicense", "Zlib",
}  # fmt: skip
TEXTS = re.compile(r"^(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)


def allowed(expression: str) -> bool:
    """Whether an SPDX expression can be met by allowed licences alone."""
    words = re.findall(r"\(|\)|[A-Za-z0-9.+-]+(?: WITH [A-Za-z0-9.+-]+)?", expression.replace("/", " OR "))

    def either() -> bool:
        met = both()
        while words and words[0] == "OR":
            words.pop(0)
            met = both() or met
        return met

    def both() -> bool:
        met = single()
        while words and words[0] == "AND":
            words.pop(0)
            met = single() and met
        return met

    def single() -> bool:
        word = words.pop(0)
        if word == "(":
            met = either()
            return words.pop(0) == ")" and met
        return word in ALLOWED

    try:
        return either() and not words
    except IndexError:
        # It ends too early.
        return False


@cache
def compiled() -> tuple[dict, ...]:
    """Crates of others that end up in what is released, on any platform, with any feature."""
    metadata = json.loads(run("cargo", "metadata", "--format-version", "1", "--all-features", "--locked", quiet=True))
    edges = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    waiting, seen = list(metadata["workspace_members"]), set()
    while waiting:
        identity = waiting.pop()
        if identity not in seen:
            seen.add(identity)
            waiting += [edge["pkg"] for edge in edges[identity] if any(kind["kind"] != "dev" for kind in edge["dep_kinds"])]
    found = {(one["name"], one["version"]): one for one in metadata["packages"] if one["id"] in seen and one["source"]}
    return tuple(found[key] for key in sorted(found))


def faults() -> list[str]:
    """Dependencies whose licence is not among the allowed."""
    return [
        f"{one['name']} {one['version']}: its licence is {one['license'] or 'a file: ' + str(one['license_file'])}, which is not among the allowed"
        for one in compiled()
        if not allowed(one["license"] or "")
    ]


def texts(one: dict) -> list[str]:
    """The licence texts in a crate's package."""
    files = sorted(Path(one["manifest_path"]).parent.iterdir())
    return [file.read_text(encoding="utf-8", errors="replace").strip() for file in files if file.is_file() and TEXTS.match(file.name)]


def write(place: Path) -> None:
    """Every crate with its licence, then every text once, with those that it belongs to."""
    lines = ["Sottovoce is licensed under MIT or Apache-2.0, at your choice. It is built with these crates:", ""]
    # A typeface has its licence inside itself, and no file beside it.
    lines += ["Bitmaps are lettered in DejaVu, whose licence (Bitstream Vera, Arev) is in the typeface's own table of names.", ""]
    owners = defaultdict(list)
    for one in compiled():
        name, found = f"{one['name']} {one['version']}", texts(one)
        lines.append(f"{name}: {one['license']}" + ("" if found else f" (no text in its package; by {', '.join(one['authors']) or 'its authors'}, {one['repository']})"))
        for text in found:
            owners[text].append(name)
    # Licences ask for their text: of packages without one the usual text is given, with whom to thank above.
    without = [one for one in compiled() if not texts(one)]
    for file in ("LICENSE-MIT", "LICENSE-APACHE"):
        usual = (ROOT / file).read_text(encoding="utf-8").strip().replace("2026 The Sottovoce developers", "their authors, who are named above")
        owners[usual] += [f"{one['name']} {one['version']}" for one in without]
    for text, names in sorted(owners.items(), key=lambda pair: pair[1]):
        lines += ["", "-" * 80, ", ".join(dict.fromkeys(names)), "", text]
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for each in compiled():
        print(f"{each['name']} {each['version']}: {each['license']}")

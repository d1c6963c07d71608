"""What is built: binaries with and without a node, what they say of themselves, the Python package."""

import os
import re
import shutil
from functools import cache
from pathlib import Path

from tools import ROOT, TARGET, Commit, Refused, run, say

# Name of the archive: features of the binary.
BINARIES = {"sottovoce": ["--features", "shell"], "sottovoce-node": ["--features", "node,shell"]}
SHELLS = {"bash": "sottovoce.bash", "zsh": "_sottovoce", "fish": "sottovoce.fish", "powershell": "sottovoce.ps1", "elvish": "sottovoce.elv"}


@cache
def host() -> str:
    """The platform that is built for: this one."""
    return re.search(r"^host: (\S+)$", run("rustc", "-vV", quiet=True), re.MULTILINE).group(1)


def for_this_machine() -> None:
    """Refuses to build for another platform: archives are named after this one, and are tried on it."""
    target = os.environ.get("CARGO_BUILD_TARGET")
    if target not in (None, ""):
        raise Refused(f"`CARGO_BUILD_TARGET` is {target}: a release is built for the machine that it is made on; unset it")


def variables(commit: Commit) -> dict[str, str]:
    """Builds that do not tell where or when they were made: paths have other names, times are the commit's."""
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    flags = [f"--remap-path-prefix={ROOT}=/sottovoce", f"--remap-path-prefix={cargo}=/cargo"]
    return {
        "CARGO_TARGET_DIR": str(TARGET),
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
        # As in the Python package, so that both share what is compiled.
        "CARGO_PROFILE_RELEASE_DEBUG": "false",
        "CARGO_PROFILE_RELEASE_STRIP": "symbols",
        "CARGO_INCREMENTAL": "0",
        "SOURCE_DATE_EPOCH": str(commit.time),
    }


def binaries(commit: Commit) -> dict[str, Path]:
    """The program, without and with a real peer."""
    built = {}
    for name, features in BINARIES.items():
        say(f"{name} ...")
        run("cargo", "build", "--release", "--locked", "-p", "sottovoce-cli", *features, **variables(commit))
        # The next one has the same name.
        built[name] = TARGET / name
        shutil.copy2(TARGET / "release" / "sottovoce", built[name])
    return built


def handed(place: Path) -> dict[str, Path]:
    """Binaries that were built elsewhere."""
    found = {name: place.resolve() / name for name in BINARIES}
    for path in found.values():
        if not os.access(path, os.X_OK):
            raise Refused(f"{path} is no program: --built takes a folder with {' and '.join(BINARIES)}")
    return found


def spoken(binary: Path, draft: Path) -> None:
    """Completions, man page and schema, as the program prints them."""
    completions = draft / "completions"
    completions.mkdir()
    for shell, file in SHELLS.items():
        (completions / file).write_text(run(binary, "completions", shell), encoding="utf-8")
    (draft / "sottovoce.1").write_text(run(binary, "man"), encoding="utf-8")
    (draft / "schema.json").write_text(run(binary, "schema", "--json"), encoding="utf-8")


def python(place: Path, commit: Commit, built: Path | None) -> None:
    """The Python package for this platform, with real peers in it, and its sources."""
    say("wheel ...")
    if not shutil.which("maturin"):
        raise Refused("`maturin` is not installed: install it (pip install maturin), or leave the wheel out with --no-wheel", code=3)
    manifest = ["-m", ROOT / "bindings/python/Cargo.toml", "--out", place]
    run("maturin", "sdist", *manifest, **variables(commit))
    if built is None:
        run("maturin", "build", "--release", "--locked", "--features", "node", *manifest, **variables(commit))
        return
    wheels = sorted(built.glob("*.whl"))
    if not wheels:
        raise Refused(f"{built} holds no wheel: put one there, or leave it out with --no-wheel")
    for wheel in wheels:
        shutil.copy2(wheel, place)

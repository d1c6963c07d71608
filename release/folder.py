"""The release folder: made beside its place and moved there whole; archives that do not depend on when they were made; checksums; a trial."""

import gzip
import hashlib
import io
import platform
import shutil
import tarfile
import tempfile
import venv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import artifacts
from tools import ROOT, Commit, Refused, run, say

SUMS = "SHA256SUMS"


def clean_commit() -> Commit:
    """The commit of a tree without changes."""
    changed = run("git", "status", "--porcelain", quiet=True)
    if changed:
        raise Refused(f"the tree has changes that are not committed, {len(changed.splitlines())} of them: commit or stash them\n{changed.rstrip()}")
    hash, time = run("git", "log", "-1", "--format=%H %ct", quiet=True).split()
    return Commit(hash, int(time))


@contextmanager
def fresh(place: Path) -> Iterator[Path]:
    """A folder that takes its place only if all goes well."""
    if place.exists() and not all((place / file).is_file() for file in (SUMS, "BUILD")):
        raise Refused(f"{place} is no release: only an earlier one is replaced; name another folder with --out")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".draft-") as scratch:
        draft = Path(scratch) / place.name
        draft.mkdir()
        yield draft
        if place.exists():
            place.rename(Path(scratch) / "replaced")
        draft.rename(place)


def archive(draft: Path, name: str, binary: Path, commit: Commit) -> None:
    """A binary with what belongs to it."""
    inside = {"sottovoce": binary, "LICENSES": draft / "LICENSES", "sottovoce.1": draft / "sottovoce.1"}
    inside |= {file: ROOT / file for file in ("README.md", "CHANGELOG.md", "SECURITY.md", "CITATION.cff", "LICENSE-MIT", "LICENSE-APACHE")}
    inside |= {f"completions/{file.name}": file for file in (draft / "completions").iterdir()}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(inside):
            entry = tarfile.TarInfo(f"{name}/{path}")
            data = inside[path].read_bytes()
            entry.size, entry.mtime, entry.mode = len(data), commit.time, 0o755 if path == "sottovoce" else 0o644
            tar.addfile(entry, io.BytesIO(data))
    compressed(draft / f"{name}.tar.gz", packed.getvalue(), commit)


def source(draft: Path, name: str, commit: Commit) -> None:
    """The repository as it was committed, without its history."""
    plain = draft / f"{name}.tar"
    run("git", "archive", "--format=tar", f"--prefix={name}/", "--output", plain, commit.hash)
    compressed(draft / f"{name}.tar.gz", plain.read_bytes(), commit)
    plain.unlink()


def compressed(place: Path, data: bytes, commit: Commit) -> None:
    place.write_bytes(gzip.compress(data, mtime=commit.time))


def about(draft: Path, version: str, commit: Commit, handed: bool) -> None:
    """What was built, from what, with what: enough to do it again."""
    lines = [f"sottovoce {version}", f"commit {commit.hash}", run("rustc", "--version", quiet=True).strip(), f"platform {artifacts.host()}"]
    lines.append("binaries and wheel were handed in, and not built from this commit by release/make" if handed else "built by release/make")
    (draft / "BUILD").write_text("\n".join(lines) + "\n", encoding="utf-8")


def files(draft: Path) -> list[Path]:
    return sorted(path for path in draft.rglob("*") if path.is_file() and path.name != SUMS)


def sums(draft: Path) -> None:
    """As `sha256sum -c` reads them."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(draft).as_posix()}\n" for path in files(draft)]
    (draft / SUMS).write_text("".join(lines), encoding="utf-8")


def try_out(draft: Path, version: str, names: Iterable[str]) -> None:
    """What somebody does who gets the folder: compare, unpack, run."""
    say("trying ...")
    if shutil.which("sha256sum"):
        run("sha256sum", "--check", "--strict", "--quiet", SUMS, cwd=draft)
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            unpacked = f"{name}-{version}-{artifacts.host()}"
            with tarfile.open(draft / f"{unpacked}.tar.gz") as tar:
                tar.extractall(scratch, filter="data")
            program = Path(scratch) / unpacked / "sottovoce"
            expect(f"sottovoce {version}", run(program, "--version").strip())
            run(program, "run", "quickstart", "--no-report", "--quiet", cwd=Path(scratch), quiet=True)
        for wheel in (draft / "python").glob("*.whl"):
            python = environment(Path(scratch) / "python")
            run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel)
            expect(version, run(python, "-c", "import importlib.metadata as m, sottovoce; print(m.version('sottovoce'))").strip())
            run(python, "-c", "import sottovoce; sottovoce.ask('account', 'rumor', peers=40, curious=4)")


def environment(place: Path) -> Path:
    """An empty virtual environment's Python."""
    venv.create(place, with_pip=True)
    return place / ("Scripts/python.exe" if platform.system() == "Windows" else "bin/python")


def expect(wanted: str, found: str) -> None:
    if wanted != found:
        raise Refused(f"the release says `{found}` of itself, and should say `{wanted}`", code=1)

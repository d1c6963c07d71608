"""What a release refuses: `python3 -m unittest discover -s release`."""

import os
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))
import artifacts
import folder
import licences
import packages
from tools import Commit, Refused


class Licences(unittest.TestCase):
    def test_expressions_are_met_by_allowed_licences_alone(self):
        for met in ("MIT", "MIT/Apache-2.0", "MIT OR LGPL-2.1-or-later", "(MIT OR GPL-3.0) AND ISC", "Apache-2.0 WITH LLVM-exception"):
            self.assertTrue(licences.allowed(met), met)
        for not_met in ("", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC", "MIT ISC", "MIT OR", "MIT WITH something", "(MIT OR ISC) AND GPL-2.0"):
            self.assertFalse(licences.allowed(not_met), not_met)


class Packages(unittest.TestCase):
    def test_files_outside_a_crate_are_found(self):
        self.assertTrue(packages.reaches_out("tests/one.rs", 'include_str!("../../../docs/page.md")'))
        self.assertTrue(packages.reaches_out("src/run/one.rs", 'include_str!("../../../here.toml")'))
        self.assertTrue(packages.reaches_out("tests/one.rs", '#[path = "../../report/tests/mod.rs"]'))
        self.assertTrue(packages.reaches_out("tests/one.rs", 'concat!(env!("CARGO_MANIFEST_DIR"), "/../..")'))
        self.assertFalse(packages.reaches_out("src/run/one.rs", 'include_str!("../page.css"); include_str!("../../tests/a.json")'))
        self.assertFalse(packages.reaches_out("benches/one.rs", 'concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peer.py")'))

    def test_crates_of_several_versions_are_refused(self):
        with self.assertRaisesRegex(Refused, "0.1.0, 0.2.0"):
            packages.version([{"version": "0.1.0"}, {"version": "0.2.0"}])

    def test_what_is_missing_is_named(self):
        crate = {"name": "one", "version": "0.1.0", "dependencies": [{"name": "two", "path": "/two", "kind": None, "req": "*"}]}
        with mock.patch.object(packages, "contents", return_value=[]), mock.patch.object(packages, "stated", return_value=[]):
            found = "\n".join(packages.faults([crate]))
        for field in packages.FIELDS:
            self.assertIn(f"one: `{field}` is missing", found)
        self.assertIn("two has no version beside its path", found)


class Artifacts(unittest.TestCase):
    def test_another_platform_is_refused(self):
        with mock.patch.dict(os.environ, {"CARGO_BUILD_TARGET": "wasm32-unknown-unknown"}):
            with self.assertRaisesRegex(Refused, "CARGO_BUILD_TARGET.*unset it"):
                artifacts.for_this_machine()
        with mock.patch.dict(os.environ):
            os.environ.pop("CARGO_BUILD_TARGET", None)
            artifacts.for_this_machine()


class Folder(unittest.TestCase):
    def test_a_changed_tree_is_refused(self):
        with mock.patch.object(folder, "run", return_value=" M README.md\n"), self.assertRaisesRegex(Refused, "README.md"):
            folder.clean_commit()

    def test_what_fails_leaves_what_was_there(self):
        with tempfile.TemporaryDirectory() as scratch:
            place = Path(scratch) / "release"
            place.mkdir()
            (place / "old").write_text("old")
            with self.assertRaisesRegex(Refused, "no release"), folder.fresh(place):
                pass
            self.assertEqual([path.name for path in Path(scratch).rglob("*")], ["release", "old"])
            # Only a release is replaced by one.
            (place / "old").unlink()
            for file in ("BUILD", "SHA256SUMS"):
                (place / file).touch()
            with self.assertRaises(Refused), folder.fresh(place):
                raise Refused("in the middle")
            self.assertEqual(sorted(path.name for path in Path(scratch).rglob("*")), ["BUILD", "SHA256SUMS", "release"])
            with folder.fresh(place) as draft:
                (draft / "new").write_text("new")
            self.assertEqual([path.name for path in Path(scratch).rglob("*")], ["release", "new"])

    def test_archives_depend_on_their_contents_alone_and_sums_find_a_changed_byte(self):
        with tempfile.TemporaryDirectory() as scratch:
            made = []
            for name in ("one", "two"):
                draft = Path(scratch) / name
                (draft / "completions").mkdir(parents=True)
                for file in ("LICENSES", "sottovoce.1", "completions/sottovoce.bash", "program"):
                    (draft / file).write_text(file)
                folder.archive(draft, "it", draft / "program", Commit("0", 1_700_000_000))
                made.append((draft / "it.tar.gz").read_bytes())
            self.assertEqual(*made)
            with tarfile.open(draft / "it.tar.gz") as tar:
                self.assertEqual(tar.getmember("it/sottovoce").mode, 0o755)
            folder.sums(draft)
            before = (draft / folder.SUMS).read_text()
            (draft / "program").write_text("changed")
            folder.sums(draft)
            self.assertNotEqual(before, (draft / folder.SUMS).read_text())


if __name__ == "__main__":
    unittest.main()

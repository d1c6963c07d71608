"""The words of the tables: `python3 -m unittest discover -s benches/peers`. Needs no peer."""

import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import accounting
import accounting_peers
import averaging
import common
import training


class Words(unittest.TestCase):
    def test_a_number_is_above_inside_or_below_the_truth(self):
        self.assertEqual(accounting.verdict(1.5, 1.0, 1.25), "+0.25")
        self.assertEqual(accounting.verdict(1.1, 1.0, 1.25), "inside")
        self.assertEqual(accounting.verdict(1.25, 1.0, 1.25), "inside")
        self.assertEqual(accounting.verdict(0.5, 1.0, 1.25), "**below by 0.5**")

    def test_upper_bounds_are_rounded_up(self):
        self.assertEqual(accounting.from_above(1.0000000001), "1.000000001")
        self.assertEqual(accounting.from_above(0.5), "0.500000000")

    def test_what_cannot_be_timed_is_said(self):
        self.assertEqual(common.ratio(3.0, 2.0), "1.5")
        self.assertEqual(common.ratio(300.0, 2.0), "150")
        for theirs, ours in ((1.0, 0.0), (1.0, -1e-3), (-1.0, 1.0), (float("nan"), 1.0)):
            self.assertEqual(common.ratio(theirs, ours), "too short")

    def test_the_python_package_is_asked_the_same(self):
        package = mock.Mock()
        with mock.patch.object(accounting_peers, "packaged", return_value=True), mock.patch.object(accounting_peers, "module", return_value=package):
            accounting_peers.our_answer()(["account", "mechanism", "--events", "file", "--delta", 1e-5])
        package.ask.assert_called_once_with("account", "mechanism", events="file", delta=1e-5)

    def test_who_is_not_installed_is_named_and_the_rest_goes_on(self):
        gone = common.Missing("skipped: it is not installed")
        with mock.patch.object(averaging, "program", side_effect=gone), mock.patch.object(training, "module", side_effect=gone):
            for comparison in (averaging, training):
                self.assertEqual(list(comparison.compare(common.Scale(True, 1))), ["skipped: it is not installed"])
        with self.assertRaisesRegex(common.Missing, "pip install nowhere"):
            common.module("nowhere_to_be_found", "nowhere")

    def test_without_our_program_it_says_how_to_build_it(self):
        variables = {**os.environ, "SOTTOVOCE_BINARY": "/no/such/program"}
        done = subprocess.run([sys.executable, HERE / "run", "--quick"], env=variables, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("cargo build --release", done.stderr)
        done = subprocess.run([sys.executable, HERE / "run", "--repeats", "0"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()

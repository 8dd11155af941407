#!/usr/bin/env python3
"""The scripts that fit constants and compare searches: test_scripts.py EYEROOF"""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples/measurements"), str(ROOT / "tests/bench")]
import bands  # noqa: E402
import cross_validate  # noqa: E402
import tune_compare  # noqa: E402

EYEROOF = sys.argv.pop(1) if len(sys.argv) > 1 else "build/dev/cli/eyeroof"


def rows_about(center, step):
    return [center * math.exp(step * i) for i in range(-50, 51)]


class Bands(unittest.TestCase):
    def test_another_day_adds_a_tenth_squared_to_what_one_day_scatters(self):
        rows = rows_about(1.2, 0.002)
        today, later = bands.of_rows(rows), bands.another_day(rows)
        self.assertAlmostEqual(math.log(later[1] / 1.2), math.hypot(math.log(today[1] / 1.2), 0.1))
        self.assertAlmostEqual(math.log(1.2 / later[0]), math.hypot(math.log(1.2 / today[0]), 0.1))

    def test_gpus_that_agree_tell_of_another_what_their_rows_tell_and_gpus_that_differ_less(self):
        agree = bands.of_gpus([rows_about(1.0, 0.004)] * 3)
        self.assertTrue(math.exp(0.16) < agree[1] < math.exp(0.3))
        self.assertAlmostEqual(agree[0] * agree[1], 1.0, 2)
        differ = bands.of_gpus([rows_about(1.0, 0.004)] * 2 + [rows_about(1.5, 0.004)])
        self.assertGreater(differ[1], 1.15 * agree[1])

    def test_gpus_that_lie_off_as_far_as_usual_lie_within_the_band_four_times_in_five(self):
        draw, trials = random.Random(5), 400
        for gpus in (1, 2, 4, 8):
            inside = 0
            for _ in range(trials):
                offsets = [bands.USUAL_OFFSET * draw.gauss(0, 1) for _ in range(gpus)]
                band = bands.of_gpus([[math.exp(o + 0.1 * draw.gauss(0, 1)) for _ in range(40)] for o in offsets])
                another = math.exp(bands.USUAL_OFFSET * draw.gauss(0, 1) + 0.1 * draw.gauss(0, 1))
                inside += band[0] <= another <= band[1]
            self.assertTrue(0.75 < inside / trials < 0.95, (gpus, inside))

    def test_gpus_that_all_lie_nearer_than_usual_make_the_band_narrower_than_one_of_them_does(self):
        one, many = (bands.of_gpus([rows_about(1.0, 0.0004)] * n) for n in (1, 8))
        self.assertGreater(one[1], math.exp(0.15))
        self.assertLess(many[1], math.exp(0.05))

    def test_two_gpus_that_err_by_a_tenth_one_up_one_down_hold_one_another(self):
        self.assertLess(bands.of_gpus([[1.08, 1.1, 1.12]])[0], 0.91)
        self.assertGreater(bands.of_gpus([[0.89, 0.91, 0.93]])[1], 1.1)


def row(**cells):
    usual = {"flops": 1, "bytes": 1, "source": "", "library": "", "session": "", "kind": "gemm", "timing": 2, "op": "gemm",
             "measured_s": 1.0, "left_s": 1.0}
    return types.SimpleNamespace(**dict(usual, **cells))


class FitRows(unittest.TestCase):
    def test_a_fit_looks_at_every_size_and_at_both_of_two_sources_in_whatever_order(self):
        rows = [row(flops=n, source=source, measured_s=n * factor) for n in range(500)
                for source, factor in (("one", 1.0), ("two", 1.5))]
        seen = cross_validate.picked(rows, 100)
        self.assertEqual(len(seen), 100)
        self.assertEqual(sum(of.flops >= 250 for of, _ in seen), 50)
        self.assertTrue(30 < sum(of.source == "one" for of, _ in seen) < 70)
        random.Random(7).shuffle(rows)
        self.assertEqual(cross_validate.picked(rows, 100), seen)

    def test_a_rare_kind_counts_as_much_as_there_is_of_it(self):
        seen = cross_validate.picked([row(kind="rare")] * 5 + [row(flops=n) for n in range(1000)], 100)
        self.assertEqual(sum(of.kind == "rare" for of, _ in seen), 5)
        self.assertEqual(len(seen), 100)

    def test_rows_of_a_session_that_another_outruns_by_a_quarter_are_not_seen(self):
        rows = [row(session=name, measured_s=ratio) for name, ratio in (("slow", 2.0), ("quick", 1.0), ("near", 1.2))
                for _ in range(30)]
        seen = cross_validate.quick_sessions(rows)
        self.assertEqual({of.session for of in seen}, {"quick", "near"})
        self.assertEqual(len(cross_validate.quick_sessions(rows[:30])), 30)  # nothing to compare with


class CrossValidation(unittest.TestCase):
    """A table that the model itself timed, on V100 and A100, with another share of DRAM's bandwidth."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.place = pathlib.Path(cls.folder.name)
        sizes = [(97 * i, 53 * i + 11, 64 + 8 * i) for i in range(1, 61)]
        table = "op,m,n,k,dtype,gpu,library,measured_s\n" + "".join(
            f"gemm,{m},{n},{k},fp32,{gpu},{'even' if i % 2 else 'odd'},1\n" for gpu in ("v100-pcie-32gb", "a100-pcie-40gb")
            for i, (m, n, k) in enumerate(sizes))
        (cls.place / "blank.csv").write_text(table)
        start = cross_validate.read_constants((ROOT / "examples/measurements/start.yaml").read_text())
        start["linear"]["terms"]["dram_share"] = 0.5
        program = cross_validate.Program(EYEROOF, cls.place / "blank.csv", "none", 12)
        seconds, _ = program.predict(program.rows(), lambda gpu: start)
        lines = table.splitlines()
        timed = [f"{line.rsplit(',', 1)[0]},{time!r}" for line, time in zip(lines[1:], seconds)]
        (cls.place / "measured.csv").write_text("\n".join(lines[:1] + timed) + "\n")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_script(self, *options):
        done = subprocess.run([sys.executable, ROOT / "examples/measurements/cross_validate.py", EYEROOF,
                               self.place / "measured.csv", "--rounds", "6", *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_constants_that_made_the_times_are_found_from_other_shapes_and_gpus(self):
        found = json.loads(self.run_script("--json", "--also", "library,session", "--constants", self.place / "hwdb/calibration"))
        self.assertEqual([g["gpu"] for g in found["groups"]], ["a100-pcie-40gb", "v100-pcie-32gb"])
        for group in found["groups"]:
            self.assertLess(group["held_out"], 0.08)
            self.assertLess(group["left_out"], 0.2)
            self.assertGreater(group["naive"], group["left_out"])
        self.assertEqual([g["rows"] for g in found["also"]["library"]], [60, 60])
        for group in found["also"]["library"]:  # the card is known
            self.assertLess(group["left_out"], 0.08)
        self.assertEqual(found["also"]["session"], [])  # no row names one
        own = (self.place / "hwdb/calibration/v100-pcie-32gb.yaml").read_text()
        blind = (self.place / "hwdb/calibration/left-out/v100-pcie-32gb.yaml").read_text()
        self.assertIn("measured_here: true", own[:own.index("batched:")])
        self.assertNotIn("measured_here: true", blind[:blind.index("batched:")])
        self.assertIn("(the same die)", (self.place / "hwdb/calibration/v100-sxm2-16gb.yaml").read_text())
        self.assertIn("half of the way to a100-pcie-40gb (the same kernels)", (self.place / "hwdb/calibration/a30.yaml").read_text())
        checked = subprocess.run([EYEROOF, "validate", self.place / "measured.csv", "--never-seen", "--hwdb",
                                  self.place / "hwdb"], capture_output=True)
        self.assertEqual(checked.returncode, 0)  # what was written is read

    def test_rows_are_left_out_only_by_what_is_known(self):
        done = subprocess.run([sys.executable, ROOT / "examples/measurements/cross_validate.py", EYEROOF, self.place / "measured.csv",
                               "--also", "library,day"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--also: day is none of die, architecture, library, source, session", done.stderr)

    def test_two_gpus_of_one_die_are_left_out_together(self):
        text = (self.place / "measured.csv").read_text().replace("a100-pcie-40gb", "v100-sxm2-16gb")
        (self.place / "measured.csv").rename(self.place / "kept.csv")
        try:
            (self.place / "measured.csv").write_text(text)
            found = json.loads(self.run_script("--json"))
        finally:
            (self.place / "kept.csv").rename(self.place / "measured.csv")
        self.assertEqual([g["left_out"] for g in found["groups"]], [None, None])  # nothing else was measured


def trial(layer, size, search, seed, number, cost):
    outcome = {"cost": cost} if cost > 0 else {"error": "crash", "detail": "SIGSEGV"}
    return {"template": "cpu", "layer": layer, "shape": {"width": size}, "trial": number,
            "origin": {"target": "cpu", "machine": "", "search": search, "seed": seed}, **outcome}


class Searches(unittest.TestCase):
    def setUp(self):
        # 1.0 is the best known of layer a, 2.0 of layer b; 95 % is at most 1.0526 and 2.105.
        runs = [("a", 64, "random, batch 8", 1, [4.0, 3.0, 2.0, 1.05]), ("a", 64, "random, batch 8", 2, [4.0, 3.0, 2.0, 2.0]),
                ("a", 64, "random, batch 8", 3, [-1.0, 1.05, 2.0, 1.0]), ("b", 32, "random, batch 8", 1, [4.0, 2.0, 2.0, 2.0]),
                ("a", 64, "learned, batch 8", 1, [4.0, 1.0, 1.0, 1.0]),
                ("a", 64, "learned, batch 8, transfer of 99 trials 12ab", 1, [1.0]),
                ("b", 32, "learned, batch 8, transfer of 77 trials 34cd", 1, [2.0])]
        self.all = tune_compare.Comparison([trial(*run, n, cost) for *run, costs in runs for n, cost in enumerate(costs)], 128)

    def test_recorded_searches_are_scored_by_the_trials_they_spent_failed_ones_included(self):
        self.assertEqual(self.all.names, ["random", "learned", "learned, transfer"])
        self.assertEqual((self.all.layers, self.all.trials, self.all.seeds), (["a", "b"], 4, 3))
        random_, learned, transfer = self.all.scores
        self.assertEqual((random_[0]["trials"][1], random_[0]["cut"][1]), (4, 1))  # of 4, never and 2: the median
        self.assertEqual((random_[1]["trials"][1], learned[0]["trials"][1], transfer[1]["trials"][1]), (2, 2, 1))
        self.assertEqual(learned[1]["runs"], 0)  # the learned one never ran there

    def test_savings_are_geometric_means_over_the_layers_that_both_searched(self):
        ratio, _, _, layers = self.all.saving(0, 1, 1)
        self.assertEqual((ratio, layers), (2.0, 1))
        ratio, low, high, layers = self.all.saving(0, 2, 1)  # 4 / 1 and 2 / 1
        self.assertAlmostEqual(ratio, math.sqrt(8))
        self.assertEqual(layers, 2)
        self.assertTrue(2 - 1e-9 <= low <= high <= 4 + 1e-9)
        self.assertIn("times fewer trials", self.all.text())


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""How soon searches of `eyeroof tune` find good programs, by the logs of their trials.

    tune_compare.py random-1.jsonl learned-1.jsonl learned-2.jsonl --trials 32
    tune_compare.py --run EYEROOF --trials 32 --seeds 3 -- resnet18-c1-c12 --layers 'C[69]$' --target model

The first compares searches that were run, the second runs every strategy first, with the options after `--`. Trials
count as they were spent, failed ones included. The best known of a layer is the best trial of all logs. Prints
trials to 90, 95, and 99 % of it (medians over seeds, geometric means over layers), and what each search saves.
"""
import argparse
import collections
import json
import math
import pathlib
import random
import subprocess
import tempfile

STRATEGIES = {"random": [], "grid": [], "genetic": [], "anneal": [], "analytic": [], "learned": ["--no-residual"],
              "learned, rank loss": ["--no-residual", "--loss", "rank"],
              "learned, uncertainty": ["--no-residual", "--uncertainty", "1"], "learned, residual": []}
SHARES = (0.90, 0.95, 0.99)


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2 if values else 0.0


def contender_of(search):
    """Searches that differ in nothing but what was transferred are one contender."""
    return ", ".join("transfer" if part.startswith("transfer of ") else part for part in search.split(", "))


def short_names(commands):
    """What all searches of a strategy share is left out of their names."""
    parts = {command: command.split(", ") for command in commands}
    seen = collections.Counter((of[0], part) for of in parts.values() for part in of)
    searches = collections.Counter(of[0] for of in parts.values())
    return {command: ", ".join([of[0]] + [part for part in of[1:] if seen[of[0], part] < searches[of[0]]])
            for command, of in parts.items()}


class Comparison:
    """Scores by contender and layer."""

    def __init__(self, lines, trials):
        shapes, self.names = {}, []
        for line in lines:
            key = json.dumps([line["template"], line["shape"], line["origin"]["target"], line["origin"]["machine"]])
            command, cost = contender_of(line["origin"]["search"]), line.get("cost", math.inf)
            shape = shapes.setdefault(key, {"name": line["layer"], "best": math.inf, "runs": {}})
            shape["best"] = min(shape["best"], cost)
            run = (line["origin"]["seed"], line["origin"]["search"])
            shape["runs"].setdefault(command, {}).setdefault(run, {})[line["trial"]] = cost
            self.names += [] if command in self.names else [command]
        self.trials = min(trials, max(line["trial"] for line in lines) + 1)
        self.layers = [shape["name"] for shape in shapes.values()]
        self.scores, self.seeds = [], 0
        for command in self.names:
            self.scores.append([])
            for shape in shapes.values():
                runs = [[run[n] for n in sorted(run) if n < self.trials]
                        for _, run in sorted(shape["runs"].get(command, {}).items())]
                self.seeds = max(self.seeds, len(runs))
                self.scores[-1].append(self.scored(runs, shape["best"]))
        names = short_names(self.names)
        self.names = [names[command] for command in self.names]

    def scored(self, runs, best):
        score = {"runs": len(runs), "trials": [], "cut": [], "share_at": []}
        if runs:
            for share in SHARES:
                needed = [next((n + 1 for n, cost in enumerate(run) if cost * share <= best), math.inf) for run in runs]
                score["trials"].append(median(needed))
                score["cut"].append(needed.count(math.inf))
            n = 8
            while n < 2 * self.trials:
                score["share_at"].append(median([best / min(run[:min(n, self.trials)], default=math.inf) for run in runs]))
                n *= 2
        return score

    def needed(self, score, share):
        """A median run that did not come there counts as all its trials, so means are too low then."""
        return min(score["trials"][share], self.trials) if score["trials"][share] < math.inf else self.trials

    def saving(self, base, contender, share):
        """(ratio, low, high, layers): how many times fewer trials than `base`, and where the middle 90 % of 1000
        bootstrapped sets of layers lie."""
        logs = [math.log(self.needed(b, share) / self.needed(c, share))
                for b, c in zip(self.scores[base], self.scores[contender]) if b["runs"] and c["runs"]]
        if not logs:
            return 1.0, 1.0, 1.0, 0
        rng = random.Random(1)
        drawn = sorted(math.exp(sum(rng.choices(logs, k=len(logs))) / len(logs)) for _ in range(1000))
        return math.exp(sum(logs) / len(logs)), drawn[50], drawn[949], len(logs)

    def text(self):
        out = [f"{len(self.layers)} layers, median of {self.seeds} seeds, at most {self.trials} trials; the best known is "
               "the best trial of all logs", "",
               f"{'trials to, geometric mean':<28} {'90 %':>8} {'95 %':>8} {'99 %':>8} {'cut at 95':>10} {'reached':>9}"]
        columns = max((len(score["share_at"]) for scores in self.scores for score in scores), default=0)
        share = lambda scores, i: median([s["share_at"][i] for s in scores if i < len(s["share_at"])])  # noqa: E731
        for name, scores in zip(self.names, self.scores):
            run = [score for score in scores if score["runs"]]
            means = [math.exp(sum(math.log(self.needed(s, i)) for s in run) / max(1, len(run))) for i in range(3)]
            out.append(f"{name:<28}" + "".join(f" {mean:>8.1f}" for mean in means) +
                       f" {sum(s['cut'][1] for s in run):>4} of {sum(s['runs'] for s in run):<3}"
                       f" {share(scores, columns - 1) if columns else 0:>8.3f}")
        out += ["", f"{'share of the best after':<28}" + "".join(f" {min(self.trials, 8 << i):>7}" for i in range(columns))]
        out += [f"{name:<28}" + "".join(f" {share(scores, i):>7.3f}" for i in range(columns))
                for name, scores in zip(self.names, self.scores)]
        out += [""] + self.saving_lines()
        out.append(f"{'trials to 95 %, by layer':<28}" + "".join(f" {layer[:7]:>7}" for layer in self.layers))
        for name, scores in zip(self.names, self.scores):
            cells = ["-" if not s["runs"] else f">{self.trials}" if s["trials"][1] == math.inf else f"{s['trials'][1]:.0f}"
                     for s in scores]
            out.append(f"{name:<28}" + "".join(f" {cell:>7}" for cell in cells))
        return "\n".join(out) + "\n"

    def saving_lines(self):
        rows = []
        for base, base_name in enumerate(self.names):
            for c, name in enumerate(self.names):
                if c != base and (base_name == "random" or name.split(", transfer")[0] == base_name != name):
                    both = [self.saving(base, c, share) for share in (0, 1)]
                    rows.append(f"{name:<28}" + "".join(f" {ratio:>6.2f} ({low:.2f} … {high:.2f})" for ratio, low, high, _ in both)
                                + f"  than {base_name}, {both[1][3]} layers")
        head = "times fewer trials to 90 %, and to 95 % (90 % of bootstrapped sets of layers)"
        return [head] + rows + [""] if rows else []


def run_all(options, folder):
    """The logs of every strategy and seed."""
    for name, words in STRATEGIES.items():
        for seed in range(1, options.seeds + 1):
            log = folder / f"{name}-{seed}.jsonl"
            subprocess.run([options.run, "tune", *options.logs, "--strategy", name.split(",")[0], *words, "--seed",
                            str(seed), "--trials", str(options.trials), "--again", "0", "--log", log], check=True,
                           stdout=subprocess.DEVNULL)
            yield log


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("logs", nargs="+", help="logs, or with --run the options of `eyeroof tune` after --")
    parser.add_argument("--run", metavar="EYEROOF", help="run every strategy with this program first")
    parser.add_argument("--trials", type=int, default=128, help="of a layer; no run counts beyond them")
    parser.add_argument("--seeds", type=int, default=5, help="with --run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        logs = run_all(options, pathlib.Path(folder)) if options.run else map(pathlib.Path, options.logs)
        lines = [json.loads(line) for log in logs for line in log.read_text().splitlines()]
    print(Comparison(lines, options.trials).text(), end="")


if __name__ == "__main__":
    main()

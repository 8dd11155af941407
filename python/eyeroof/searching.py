"""Searches over a space of designs: the fields of a sweep, without running all of its points.

Successive halving runs every machine on a cheap question first (a smaller batch, a few layers) and
only the better part of them on the next, up to the whole one. `bayesian` asks Optuna's sampler,
where it is installed. Both answer with rows of a sweep; the full grid is the check, and
er.search(..., strategy="grid") runs it. Worth it where a point is slow (mapping="best"): by a
dataflow's rules a sweep runs tens of thousands of points a second.
"""

from __future__ import annotations

import json
import random
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from . import AnyNetwork, Error, Rows, sweep

Row = Dict[str, Any]
Point = Tuple[Any, ...]


def front(rows: Sequence[Row], objectives: Sequence[str]) -> List[Row]:
    """The rows that no other beats in all objectives; less is better, "max:KEY" the other way.

    >>> from eyeroof.searching import front
    >>> rows = [{"a": 1, "b": 3}, {"a": 2, "b": 2}, {"a": 2, "b": 3}]
    >>> front(rows, ["a", "b"]) == rows[:2]
    True
    """
    keys = [_key(o) for o in objectives]
    usable = sorted((tuple(k(row) for k in keys), n) for n, row in enumerate(rows)
                    if not row.get("error"))
    kept: List[Tuple[Tuple[float, ...], int]] = []
    for values, n in usable:
        beaten = any(all(a <= b for a, b in zip(other, values)) and other != values
                     for other, _ in kept)
        if not beaten:
            kept.append((values, n))
    return [rows[n] for n in sorted(n for _, n in kept)]


def _key(objective: str) -> Callable[[Row], float]:
    name, sign = (objective[4:], -1.0) if objective.startswith("max:") else (objective, 1.0)

    def figure(row: Row) -> float:
        if name not in row:
            numbers = [key for key, value in row.items() if isinstance(value, float)]
            raise Error(f"'{name}' is no figure of a sweep [unknown-objective]\n  hint: {', '.join(numbers)}")
        return sign * float(row[name])

    return figure


def _ranks(rows: Sequence[Row], objectives: Sequence[str]) -> List[int]:
    """Which front a row is on, from 0: the front, the front of what is left, ..."""
    ranks = [len(rows)] * len(rows)
    left = [n for n, row in enumerate(rows) if not row.get("error")]
    number = 0
    while left:
        best = {id(row) for row in front([rows[n] for n in left], objectives)}
        for n in left:
            if id(rows[n]) in best:
                ranks[n] = number
        left = [n for n in left if id(rows[n]) not in best]
        number += 1
    return ranks


class Space:
    """Points of a sweep by the fields' values, each run once for a question."""

    def __init__(self, net: AnyNetwork, on: str, vary: Mapping[str, Sequence[Any]],
                 options: Mapping[str, Any]) -> None:
        for field, values in vary.items():
            if isinstance(values, str) or not len(values):
                raise Error(f"the values of '{field}' are a list that is not empty [bad-value]")
        self.net, self.on, self.vary, self.options = net, on, dict(vary), dict(options)
        self.evaluated = 0

    def points(self) -> List[Point]:
        import itertools

        return list(itertools.product(*self.vary.values()))

    def run(self, points: Sequence[Point], **cheaper: Any) -> List[Row]:
        rows = []
        places = {point: place for place, point in enumerate(self.points())}
        for point in points:
            fields = {key: [value] for key, value in zip(self.vary, point)}
            (row,) = sweep(self.net, self.on, fields, **{**self.options, **cheaper})
            row.update(zip(self.vary, point))
            row["point"] = places[point]
            rows.append(row)
        self.evaluated += len(points)
        return rows


class Found(Rows):
    """Rows of the front that was found; `evaluated`: how many points were run, and of how many."""

    evaluated = 0
    points = 0

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        super().__init__("".join(json.dumps(row) + "\n" for row in rows))


def _halving(space: Space, objectives: Sequence[str], cheap: Sequence[Mapping[str, Any]],
             keep: float, rng: random.Random) -> List[Row]:
    points = space.points()
    for question in cheap:
        rows = space.run(points, **question)
        order = list(range(len(points)))
        rng.shuffle(order)  # equals are not kept by their order in the grid
        ranks = _ranks(rows, objectives)
        order.sort(key=lambda n: ranks[n])
        kept = max(1, round(keep * len(points)))
        while kept < len(points) and ranks[order[kept]] == 0:
            kept += 1  # a front is never cut
        points = [points[n] for n in sorted(order[:kept])]
    return space.run(points)


def _bayesian(space: Space, objectives: Sequence[str], trials: int, seed: int) -> List[Row]:
    try:
        import optuna  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise Error("strategy='bayesian' asks the package optuna, which is not installed "
                    "[missing-package]\n  hint: pip install optuna") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names = list(space.vary)
    seen: Dict[Point, Row] = {}

    def ask(trial: Any) -> Tuple[float, ...]:
        places = [trial.suggest_int(name, 0, len(space.vary[name]) - 1) for name in names]
        point = tuple(space.vary[name][place] for name, place in zip(names, places))
        if point not in seen:
            (seen[point],) = space.run([point])
        row = seen[point]
        if row.get("error"):
            raise optuna.TrialPruned()
        return tuple(_key(o)(row) for o in objectives)

    study = optuna.create_study(directions=["minimize"] * len(objectives),
                                sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True))
    study.optimize(ask, n_trials=trials)
    return list(seen.values())


def search(net: AnyNetwork, on: str, vary: Mapping[str, Sequence[Any]], *,
           objectives: Sequence[str] = ("time_s", "energy_j"), strategy: str = "halving",
           cheap: Optional[Sequence[Mapping[str, Any]]] = None, keep: float = 0.5,
           trials: int = 100, seed: int = 1, **options: Any) -> Found:
    """The best designs of a space by a search: their front in the objectives.

    strategy "halving": `cheap` are the questions asked first, as options of the sweep; after each
    the `keep` best part goes on, a whole front at least. "bayesian": `trials` points by Optuna's
    sampler. "grid": all.

    >>> from eyeroof import search
    >>> found = search("alexnet", "eyeriss-v1", {"clock": ["x1", "x2"], "batch": [1, 4]},
    ...                cheap=[{"layers": "CONV1"}])
    >>> all(row["clock"] == "x2" for row in found), found.evaluated <= 8
    (True, True)
    """
    space = Space(net, on, vary, options)
    if strategy == "grid":
        rows = space.run(space.points())
    elif strategy == "halving":
        rows = _halving(space, objectives, cheap or [], keep, random.Random(seed))
    elif strategy == "bayesian":
        rows = _bayesian(space, objectives, trials, seed)
    else:
        raise Error(f"strategy is halving, bayesian or grid, not '{strategy}' [bad-value]")
    found = Found(front(rows, objectives))
    found.evaluated, found.points = space.evaluated, len(space.points())
    return found

"""A sweep in parts on the workers of a Dask client, each about a second long, kept in a folder as they are done."""

from __future__ import annotations

import json
import math
import os
import pathlib
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from ._core import AnyPath
from ._eyeroof import Error

SECONDS = 1.0  # of a part: a task costs the scheduler about a millisecond, and the network is read anew
MOST_PARTS = 4096
EMPTY = f"{2**63}/{2**63}"  # a part without points


def run_parts(client: Any, work: Callable[..., str], asked: Tuple[Any, ...], parts: int, folder: Optional[AnyPath],
              progress: Optional[Callable[[int, int], None]]) -> str:
    """The parts' texts, joined in order. `work` takes `asked` and a part as "3/8"."""
    import distributed  # type: ignore[import-not-found, unused-ignore]

    as_completed: Any = distributed.as_completed  # it has no types

    kept = None if folder is None else _Folder(pathlib.Path(folder), asked)
    count = parts or (kept.parts if kept else 0) or _parts_of_a_second(client, work, asked)
    texts: Dict[int, str] = kept.read(count) if kept else {}
    jobs = {client.submit(work, *asked, f"{part + 1}/{count}", pure=False): part
            for part in range(count) if part not in texts}
    for job, text in as_completed(jobs, with_results=True):
        texts[jobs[job]] = text
        if kept:
            kept.write(jobs[job], text)
        if progress:
            progress(len(texts), count)
    return "".join(texts[part] for part in range(count))


def _parts_of_a_second(client: Any, work: Callable[..., str], asked: Tuple[Any, ...]) -> int:
    """How many parts take SECONDS each besides reading, by the first part of smaller and smaller numbers of them."""
    def seconds_of(part: str) -> float:
        begin = time.monotonic()
        client.submit(work, *asked, part, pure=False).result()
        return time.monotonic() - begin

    least = max(1, len(client.scheduler_info()["workers"]))
    reading = min(seconds_of(EMPTY) for _ in range(3))  # the first of a worker starts it, too
    count = MOST_PARTS
    while count > least:
        seconds = seconds_of(f"1/{count}") - reading
        if seconds > SECONDS / 4:
            return max(least, min(MOST_PARTS, math.ceil(seconds * count / SECONDS)))
        count //= 8
    return least


class _Folder:
    """Parts of one sweep: sweep.json says which, and names their files; part-00003.jsonl has the rows of the third."""

    def __init__(self, folder: pathlib.Path, asked: Tuple[Any, ...]) -> None:
        self.folder, self.asked, self.parts = folder, list(asked), 0
        folder.mkdir(parents=True, exist_ok=True)
        head = folder / "sweep.json"
        if head.exists():
            try:
                known = json.loads(head.read_text(encoding="utf-8"))
            except ValueError:
                known = None
            files = known.get("files") if isinstance(known, dict) else None
            if not isinstance(files, list) or known != {"asked": self.asked, "files": self._names(len(files))}:
                raise self._other("has the parts of another sweep")
            self.parts = len(files)

    def read(self, count: int) -> Dict[int, str]:
        if count != self.parts:
            for name in self._names(self.parts):
                (self.folder / name).unlink(missing_ok=True)
            foreign = [name for name in self._names(count) if (self.folder / name).exists()]
            if foreign:
                raise self._other(f"has {foreign[0]}, which is not of this sweep")
            self._put("sweep.json", json.dumps({"asked": self.asked, "files": self._names(count)}))
            self.parts = count
        paths = [self.folder / name for name in self._names(count)]
        return {part: path.read_text(encoding="utf-8") for part, path in enumerate(paths) if path.exists()}

    def write(self, part: int, text: str) -> None:
        self._put(self._name(part), text)

    def _other(self, why: str) -> Error:
        return Error(f"{self.folder} {why} [other-sweep]\n  hint: name another folder, or remove this one")

    @staticmethod
    def _name(part: int) -> str:
        return f"part-{part + 1:05}.jsonl"

    def _names(self, count: int) -> List[str]:
        return [self._name(part) for part in range(count)]

    def _put(self, name: str, text: str) -> None:
        unfinished = self.folder / (name + ".new")
        with open(unfinished, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(unfinished, self.folder / name)

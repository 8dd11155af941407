"""A sweep in parts on the workers of a Dask client, each about a second long, kept in a folder as they are done."""

from __future__ import annotations

import json
import math
import os
import pathlib
import time
from typing import Any, Callable, Dict, Optional, Tuple

from ._core import AnyPath
from ._eyeroof import Error

SECONDS = 1.0  # of a part: a task costs the scheduler about a millisecond, and the network is read anew
MOST_PARTS = 4096


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
    """How many parts take SECONDS each, by the first part of smaller and smaller numbers of them."""
    least = max(1, len(client.scheduler_info()["workers"]))
    count = MOST_PARTS
    while count > least:
        begin = time.monotonic()
        client.submit(work, *asked, f"1/{count}", pure=False).result()
        seconds = time.monotonic() - begin
        if seconds > SECONDS / 4:
            return max(least, min(MOST_PARTS, math.ceil(seconds * count / SECONDS)))
        count //= 8
    return least


class _Folder:
    """Parts of one sweep: sweep.json says which, part-00003.jsonl has the rows of the third."""

    def __init__(self, folder: pathlib.Path, asked: Tuple[Any, ...]) -> None:
        self.folder, self.asked, self.parts = folder, list(asked), 0
        folder.mkdir(parents=True, exist_ok=True)
        head = folder / "sweep.json"
        if head.exists():
            known = json.loads(head.read_text(encoding="utf-8"))
            if known["asked"] != self.asked:
                raise Error(f"{folder} has the parts of another sweep [other-sweep]\n"
                            "  hint: name another folder, or remove this one")
            self.parts = int(known["parts"])

    def read(self, count: int) -> Dict[int, str]:
        if count != self.parts:
            for old in self.folder.glob("part-*.jsonl"):
                old.unlink()
            self._put("sweep.json", json.dumps({"asked": self.asked, "parts": count}))
            self.parts = count
        paths = {part: self._path(part) for part in range(count)}
        return {part: path.read_text(encoding="utf-8") for part, path in paths.items() if path.exists()}

    def write(self, part: int, text: str) -> None:
        self._put(self._path(part).name, text)

    def _path(self, part: int) -> pathlib.Path:
        return self.folder / f"part-{part + 1:05}.jsonl"

    def _put(self, name: str, text: str) -> None:
        unfinished = self.folder / (name + ".new")
        with open(unfinished, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.replace(unfinished, self.folder / name)

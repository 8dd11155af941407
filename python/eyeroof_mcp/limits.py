"""What a client may ask for at most."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    line_bytes: int = 1 << 20  # one message
    depth: int = 32  # nesting of a message
    id_length: int = 128  # characters of an id that is a string
    text_length: int = 512  # characters of an argument
    changes: int = 64  # members of an argument that is an object
    waiting: int = 64  # requests without an answer
    burst: int = 1000  # lines at once; then a steady rate
    lines_per_s: float = 200.0
    file_bytes: int = 64 << 20  # a file inside a root
    answer_bytes: int = 8 << 20
    memory_bytes: int = 2 << 30  # of one tool's process
    time_s: float = 60.0  # of one tool's process
    unconfined: bool = False  # calls run also where the kernel has no Landlock
    workers: int = max(2, os.cpu_count() or 2)  # tools that run at the same time

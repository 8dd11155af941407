"""One tool call in a process of its own: the request on stdin, the answer on stdout, as JSON.

The process can be killed at any moment, ends with the server, writes no file, has bounded memory, and
where the kernel has Landlock (Linux 5.13) it can open nothing but the data of eyeroof and the roots.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from typing import Any, Dict, List

import eyeroof

from .tools import Wrong, answer_of  # all imports stand here: later no module can be read

Json = Dict[str, Any]

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# Rights on files that each version of Landlock knows: linux/landlock.h.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_NEWEST_FILE_RIGHTS = 16
_NET_RIGHTS = 0b11  # bind and connect, from version 4 on


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("net", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("rights", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def _end_with_parent(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _bound(memory_bytes: int, time_s: float) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # pipes are no files
    cpu = int(time_s * (os.cpu_count() or 1)) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))


def confine(folders: List[str]) -> bool:
    """Leaves this process nothing to open but what lies below these folders; False without Landlock."""
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rights = (1 << _FILE_RIGHTS.get(version, _NEWEST_FILE_RIGHTS)) - 1
    rules = _Ruleset(rights, _NET_RIGHTS if version >= 4 else 0)
    size = ctypes.sizeof(rules) if version >= 4 else 8
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    for folder in folders:
        try:
            parent = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        rule = _Beneath(_READ_FILE | (_READ_DIR if os.path.isdir(folder) else 0), parent)
        libc.syscall(_ADD_RULE, ruleset, 1, ctypes.byref(rule), 0)
        os.close(parent)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    confined = libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return bool(confined)


def data_folders() -> List[str]:
    """Where eyeroof's own data lies, behind links too."""
    folders = [os.path.realpath(folder) for folder in eyeroof._folders()]
    return folders + [os.path.realpath(os.path.join(folder, part))
                      for folder in folders for part in sorted(os.listdir(folder))]


def answer(request: Json) -> Json:
    try:
        return {"answer": answer_of(request["tool"], request["arguments"])}
    except (eyeroof.Error, Wrong) as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "there is not enough memory for this [out-of-memory]"}
    except Exception as error:  # said to the operator on stderr; the client learns that it happened
        print(f"eyeroof-mcp: {request['tool']}: {error!r}", file=sys.stderr)
        return {"error": "the tool failed [internal]"}


def main(parent: int) -> None:
    _end_with_parent(parent)
    request = json.loads(sys.stdin.buffer.read())
    _bound(request["memory_bytes"], request["time_s"])
    confined = confine(request["folders"] + data_folders() + ["/sys/devices/system/cpu"])
    told = answer(request) if confined or request["unconfined"] else {
        "error": "this kernel has no Landlock, so a call could open any file; start the server with "
                 "--unconfined to allow that [unconfined]"}
    text = json.dumps(told).encode()
    sys.stdout.buffer.write(text)
    sys.stdout.flush()
    os._exit(0)

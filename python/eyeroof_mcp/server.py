"""The server: the SDK's loop, the tools, and one process a call."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from typing import Any, Dict, List, Optional, Tuple

from .limits import Limits
from .roots import Outside, Roots, is_file_name, parse_root, shown

Json = Dict[str, Any]

# The package is found where this process found it, and nowhere else.
_START = ("import sys; sys.path[:] = {path!r}; from eyeroof_mcp.worker import main; main({parent})")


class Failed(Exception):
    """A call without an answer; the text is for the client."""


async def _received(process: Any, request: bytes, most: int) -> bytes:
    await process.stdin.send(request)
    await process.stdin.aclose()
    answer = bytearray()
    async for block in process.stdout:
        answer += block
        if len(answer) > most:
            raise Failed(f"the answer is longer than {most} bytes; ask for fewer layers [too-long]")
    await process.wait()
    return bytes(answer)


async def run_worker(request: Json, limits: Limits, folder: str) -> Json:
    """The answer of one tool in a process that is killed at the limit and on cancellation.

    `folder`: its working directory, which is empty, so that no name of a network or machine is a file there."""
    import anyio

    code = _START.format(path=sys.path, parent=os.getpid())
    process = await anyio.open_process([sys.executable, "-I", "-c", code], cwd=folder, stderr=None,
                                       start_new_session=True)
    try:
        with anyio.fail_after(limits.time_s):
            answer = await _received(process, json.dumps(request).encode(), limits.answer_bytes)
    except TimeoutError:
        raise Failed(f"stopped after {limits.time_s:g} s [time-limit]") from None
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        answer = b""
    finally:
        if process.returncode is None:
            process.kill()
        with anyio.CancelScope(shield=True):
            await process.aclose()
    if not answer:
        raise Failed("the tool ended without an answer: too much memory or time? [failed]")
    return json.loads(answer)


class Tools:
    """tools/list and tools/call for the SDK."""

    def __init__(self, roots: Roots, limits: Limits, folder: str) -> None:
        import anyio

        self._roots, self._limits, self._folder = roots, limits, folder
        self._turn = anyio.CapacityLimiter(limits.workers)

    async def listed(self, context: Any, params: Any) -> Any:
        from mcp_types import ListToolsResult, Tool

        from .tools import TOOLS

        return ListToolsResult(tools=[Tool.model_validate(tool) for tool in TOOLS])

    async def called(self, context: Any, params: Any) -> Any:
        from .tools import Wrong

        try:
            return _result(await self._answer(params.name, params.arguments or {}))
        except (Wrong, Outside, Failed) as error:
            return _result(str(error), is_error=True)

    async def _answer(self, tool: str, arguments: Json) -> Any:
        from .tools import check

        check(tool, arguments, self._limits)
        arguments, names = self._placed(arguments)
        request = {"tool": tool, "arguments": arguments, "folders": self._roots.folders,
                   "memory_bytes": self._limits.memory_bytes, "time_s": self._limits.time_s,
                   "unconfined": self._limits.unconfined}
        async with self._turn:
            told = await run_worker(request, self._limits, self._folder)
        if "error" in told:
            raise Failed(shown(told["error"], names))
        answer = told["answer"]
        if isinstance(answer, str):
            return shown(answer, names)
        return json.loads(shown(json.dumps(answer), names)) if names else answer

    def _placed(self, arguments: Json) -> Tuple[Json, Dict[str, str]]:
        """The arguments with files by their real paths, and what the client calls these."""
        from .tools import FILES

        placed, names = dict(arguments), {}
        for key in FILES:
            name = arguments.get(key)
            if isinstance(name, str) and is_file_name(name):
                real, file, rest = self._roots.path_of(name)
                placed[key] = real + rest
                names[real] = file
        return placed, names


def _result(answer: Any, is_error: bool = False) -> Any:
    from mcp_types import CallToolResult, TextContent

    if isinstance(answer, str):
        return CallToolResult(content=[TextContent(type="text", text=answer)], is_error=is_error)
    return CallToolResult(content=[TextContent(type="text", text=json.dumps(answer))],
                          structured_content=answer, is_error=False)


async def serve(roots: Roots, limits: Limits) -> None:
    named = f" Files are named by their folder: {', '.join(roots.names)}." if roots.names else ""
    with tempfile.TemporaryDirectory(prefix="eyeroof-mcp-") as empty:
        os.chmod(empty, 0o500)
        await _serve(Tools(roots, limits, empty), named, limits)


async def _serve(tools: Tools, named: str, limits: Limits) -> None:
    from mcp.server.lowlevel import Server

    from eyeroof import __version__

    from .transport import bounded_stdio

    server: Any = Server("eyeroof", version=__version__,
                         instructions="Start with `net` and `hw` for names, then `exam`." + named,
                         on_list_tools=tools.listed, on_call_tool=tools.called)
    server.middleware.clear()  # no telemetry
    async with bounded_stdio(limits) as (requests, answers):
        await server.run(requests, answers, server.create_initialization_options())


def _options(arguments: Optional[List[str]]) -> argparse.Namespace:
    usual = Limits()
    parser = argparse.ArgumentParser(
        prog="eyeroof-mcp", description="Serve eyeroof to assistants over the Model Context Protocol "
        "on stdin and stdout.")
    parser.add_argument("--root", action="append", default=[], metavar="[NAME=]FOLDER",
                        help="folder that clients may read files in (repeatable); without it they "
                        "have the catalog's names only")
    parser.add_argument("--time-limit", type=float, default=usual.time_s, metavar="SECONDS",
                        help="running time of a call at most [%(default)s]")
    parser.add_argument("--memory", type=int, default=usual.memory_bytes >> 20, metavar="MB",
                        help="memory of a call at most [%(default)s]")
    parser.add_argument("--workers", type=int, default=usual.workers, metavar="N",
                        help="calls that run at the same time [%(default)s]")
    parser.add_argument("--unconfined", action="store_true",
                        help="serve also where the kernel has no Landlock (before Linux 5.13): a call "
                        "could then open any file of this user")
    return parser.parse_args(arguments)


def main(arguments: Optional[List[str]] = None) -> int:
    options = _options(arguments)
    if not (0.0 < options.time_limit <= 86400.0 and options.memory > 0 and options.workers > 0):
        print("eyeroof-mcp: limits are above zero", file=sys.stderr)
        return 2
    limits = Limits(time_s=options.time_limit, memory_bytes=options.memory << 20,
                    workers=options.workers, unconfined=options.unconfined)
    try:
        roots = Roots([parse_root(text) for text in options.root], limits)
    except ValueError as error:
        print(f"eyeroof-mcp: --root: {error}", file=sys.stderr)
        return 2
    try:
        import anyio
        import mcp.server.lowlevel  # noqa: F401
        import mcp_types  # noqa: F401
    except ImportError:
        print("eyeroof-mcp needs the MCP SDK: pip install 'eyeroof[mcp]' (Python 3.10 or newer)",
              file=sys.stderr)
        return 4
    try:
        anyio.run(serve, roots, limits)
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    sys.stdout = None  # type: ignore[assignment]  # its descriptor may be gone
    os._exit(0)  # a thread may still wait for stdin

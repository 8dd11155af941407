"""The SDK's pair of streams over stdin and stdout, with bounded lines, rates, and requests.

A line that is no message gets a JSON-RPC error and nothing else happens. While the server runs, file
descriptor 1 is stderr: what a library prints cannot get between two messages.
"""

from __future__ import annotations

import os
import time
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Iterator, Set, Union

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from .limits import Limits
from .messages import BUSY, INVALID_REQUEST, Refusal, message_in

_BLOCK = 1 << 16


class Lines:
    """Cuts blocks of bytes into lines; of a line that is too long only its length is kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._rest = bytearray()
        self._skipped = False

    def feed(self, block: bytes) -> Iterator[Union[bytes, None]]:
        """The lines that end in this block; None for one that was too long."""
        *ended, last = block.split(b"\n")
        for part in ended:
            self._keep(part)
            yield self._taken()
        self._keep(last)

    def end(self) -> Iterator[Union[bytes, None]]:
        if self._rest or self._skipped:
            yield self._taken()

    def _keep(self, part: bytes) -> None:
        if self._skipped or len(self._rest) + len(part) > self._most:
            self._skipped = True
            self._rest.clear()
        else:
            self._rest += part

    def _taken(self) -> Union[bytes, None]:
        line = None if self._skipped else bytes(self._rest)
        self._rest.clear()
        self._skipped = False
        return line


class Pace:
    """A bucket of `burst` lines that fills at `rate` lines a second."""

    def __init__(self, burst: float, rate: float) -> None:
        self._burst, self._rate = burst, rate
        self._left = burst
        self._at = time.monotonic()

    async def wait(self) -> None:
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        self._left -= 1.0
        if self._left < 0.0:
            await anyio.sleep(-self._left / self._rate)


class Waiting:
    """Ids of requests without an answer."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._ids: Set[Any] = set()

    def refusal_of(self, message: Any) -> Union[Refusal, None]:
        """Notes a request; says why where there cannot be one more."""
        if isinstance(message, JSONRPCNotification):
            if message.method == "notifications/cancelled":  # is never answered
                self._ids.discard(_key((message.params or {}).get("requestId")))
            return None
        if not isinstance(message, JSONRPCRequest):
            return None
        key = _key(message.id)
        if key in self._ids:
            return Refusal(INVALID_REQUEST, "the id belongs to a request that runs", message.id)
        if len(self._ids) >= self._most:
            return Refusal(BUSY, f"{self._most} requests run already", message.id)
        self._ids.add(key)
        return None

    def any(self) -> bool:
        return bool(self._ids)

    def answered(self, message: Any) -> None:
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._ids.discard(_key(message.id))


def _key(number: Any) -> str:
    return str(number)[:256]  # the SDK takes 7 and "7" for the same request


def _error(refusal: Refusal) -> SessionMessage:
    return SessionMessage(JSONRPCError(
        jsonrpc="2.0", id=refusal.id, error=ErrorData(code=refusal.code, message=refusal.message)))


def _take_stdout() -> int:
    """A descriptor of its own for the wire; 1 is stderr from now on."""
    wire = os.dup(1)
    os.dup2(2, 1)
    return wire


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data):]


class _Wire:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.waiting = Waiting(limits.waiting)
        self.file = _take_stdout()
        self.writes = False

    async def read(self, into: Any, answers: Any) -> None:
        lines, pace = Lines(self.limits.line_bytes), Pace(self.limits.burst, self.limits.lines_per_s)
        async with into, answers:
            while True:
                block = await anyio.to_thread.run_sync(os.read, 0, _BLOCK, abandon_on_cancel=True)
                for line in lines.feed(block) if block else lines.end():
                    await pace.wait()
                    await self._line(line, into, answers)
                if not block:
                    await self._idle()  # a client that sends all and closes gets its answers
                    return

    async def _idle(self) -> None:
        while self.waiting.any() or self.writes:
            await anyio.sleep(0.01)

    async def _line(self, line: Union[bytes, None], into: Any, answers: Any) -> None:
        if line is None:
            too_long = f"the line is longer than {self.limits.line_bytes} bytes"
            await answers.send(_error(Refusal(INVALID_REQUEST, too_long)))
            return
        if not line.strip():
            return
        message = message_in(line, self.limits)
        refusal = message if isinstance(message, Refusal) else self.waiting.refusal_of(message)
        if refusal is not None:
            await answers.send(_error(refusal))
        else:
            await into.send(SessionMessage(message))

    async def write(self, answers: Any) -> None:
        async with answers:
            async for one in answers:
                self.writes = True
                self.waiting.answered(one.message)
                text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                await anyio.to_thread.run_sync(_write_all, self.file, text.encode() + b"\n",
                                               abandon_on_cancel=True)
                self.writes = False


@asynccontextmanager
async def bounded_stdio(limits: Limits) -> AsyncIterator[Any]:
    """Streams for `Server.run`."""
    wire = _Wire(limits)
    into, requests = anyio.create_memory_object_stream[Any](0)
    answers, outgoing = anyio.create_memory_object_stream[Any](0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wire.read, into, answers.clone())
        tasks.start_soon(wire.write, outgoing)
        yield requests, answers
        tasks.cancel_scope.cancel()

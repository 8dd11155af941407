"""One line from the client: a message of the protocol, or the reason why it is none.

Everything that could make a later stage fail is refused here: NaN, integers of thousands of digits,
deep nesting, ids that are neither strings nor integers, text that cannot be encoded.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Optional, Union

from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from .limits import Limits

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
BUSY = -32000

Id = Union[int, str, None]


@dataclass(frozen=True)
class Refusal:
    """The answer to a line that is no message."""

    code: int
    message: str
    id: Id = None


class _Refused(ValueError):
    pass


_MOST_DIGITS = 18  # fits into 64 bits with its sign
_TOKENS = re.compile(rb'[\[\]{}"]|\\.', re.DOTALL)


def depth_of(line: bytes, most: int) -> int:
    """Nesting of brackets outside strings; stops counting above `most`."""
    depth = deepest = 0
    in_text = False
    for token in _TOKENS.finditer(line):
        mark = token.group()
        if mark == b'"':
            in_text = not in_text
        elif in_text or len(mark) > 1:
            continue
        elif mark in b"[{":
            depth += 1
            deepest = max(deepest, depth)
            if deepest > most:
                break
        else:
            depth -= 1
    return deepest


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > _MOST_DIGITS:
        raise _Refused("an integer has too many digits")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _Refused("a number is too large")
    return value


def _constant(text: str) -> Any:
    raise _Refused("NaN and Infinity are not JSON")


def _decoded(line: bytes, limits: Limits) -> Any:
    if depth_of(line, limits.depth) > limits.depth:
        raise _Refused(f"the line nests deeper than {limits.depth} levels")
    value = json.loads(line.decode("utf-8"), parse_int=_integer, parse_float=_number,
                       parse_constant=_constant)
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # lone surrogates have no encoding
    return value


def _is_id(value: Any, limits: Limits) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, str) and len(value) <= limits.id_length)


def message_in(line: bytes, limits: Limits) -> Union[JSONRPCMessage, Refusal]:
    try:
        value = _decoded(line, limits)
    except _Refused as refused:
        return Refusal(PARSE_ERROR, str(refused))
    except (ValueError, RecursionError):  # no JSON, no UTF-8, no encoding
        return Refusal(PARSE_ERROR, "the line is no JSON")
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return Refusal(INVALID_REQUEST, "the line is no JSON-RPC 2.0 message")
    number: Optional[Any] = value.get("id")
    if "id" in value and not _is_id(number, limits):
        return Refusal(INVALID_REQUEST, "an id is a string or an integer")
    if "method" in value:
        method = value["method"]
        if not isinstance(method, str) or len(method) > limits.id_length:
            return Refusal(INVALID_REQUEST, "a method is a name", number)
        if not isinstance(value.get("params", {}), dict):
            return Refusal(INVALID_PARAMS, "params are an object", number)
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except (ValidationError, ValueError):
        return Refusal(INVALID_REQUEST, "the line is no JSON-RPC 2.0 message", number)

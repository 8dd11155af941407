"""Networks of PyTorch models: what a forward pass runs, recorded operator by operator.

    with er.capture() as c:
        model(x)                       # on any device; "meta" needs neither memory nor time
    er.exam(c.network("mine"), on="a100-sxm-40gb")

    net = er.from_torch(model, x)      # the same in one call, on copies without memory

Module names are kept. What is not known is told in `c.unknown` (operator: calls), and is left out.
Attention (scaled_dot_product_attention) is one layer, as it is one kernel; LSTM and GRU are their
products and cells. Rows are those of docs/formats.md.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Set

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from . import Error, Network, _eyeroof
from .torch_ops import Row, attention_row, composite_rows, copies_of, row_of

_TYPES = {torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16",
          torch.bfloat16: "bf16", torch.int8: "int8", torch.uint8: "int8", torch.bool: "int8",
          torch.int16: "int16", torch.int32: "int32", torch.int64: "int32"}
for _name, _type in (("float8_e4m3fn", "fp8"), ("float8_e5m2", "fp8")):
    if hasattr(torch, _name):
        _TYPES[getattr(torch, _name)] = _type


# Operators without a cost that are known to multiply nothing: they select, sort or draw numbers.
_NO_PRODUCTS = {
    "_unique2", "argsort", "bernoulli", "bincount", "bucketize", "histc", "isin", "kthvalue",
    "masked_select", "median", "mode", "multinomial", "nms", "nonzero", "rand", "randint", "randn",
    "randperm", "searchsorted", "sort", "topk", "unique_consecutive", "unique_dim"}


class _Composites(TorchFunctionMode):
    """Sees what is one kernel but reaches the dispatcher in parts: attention, recurrent layers."""

    def __init__(self, owner: "Capture") -> None:
        super().__init__()
        self._owner = owner

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "scaled_dot_product_attention":
            return self._owner._whole(func, args, kwargs, lambda out: [attention_row(args, kwargs)])
        if name in ("lstm", "gru", "rnn_tanh", "rnn_relu") and len(args) >= 8:
            return self._owner._whole(func, args, kwargs,
                                      lambda out: composite_rows(name, args, out))
        return func(*args, **kwargs)


class _Operators(TorchDispatchMode):
    """Sees every operator that reaches the dispatcher."""

    def __init__(self, owner: "Capture") -> None:
        super().__init__()
        self._owner = owner

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is not torch.ops.prim.device.default:
            with self:  # what is made of other operators is recorded as these
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        result = func(*args, **kwargs)
        self._owner._seen(func.overloadpacket.__name__, args, kwargs, _first(result))
        return result


class Capture:
    """Records operators while it is entered; see the module's text."""

    def __init__(self, dtype: Optional[str] = None) -> None:
        self.rows: List[Row] = []
        self.unknown: Dict[str, int] = {}
        self._dtype = dtype
        self._stack: List[str] = []
        self._leaf: List[bool] = []
        self._names: Dict[int, str] = {}
        self._hooks: List[Any] = []
        self._learned: Dict[int, bool] = {}  # storages of parameters: counted already?
        self._roots: List[Any] = []  # so that storages are not given to others meanwhile
        self._silent = 0
        self._operators, self._composites = _Operators(self), _Composites(self)
        self._fast_path = True

    def __enter__(self) -> "Capture":
        register = torch.nn.modules.module
        self._hooks = [register.register_module_forward_pre_hook(self._enter_module),
                       register.register_module_forward_hook(self._leave_module, always_call=True)]
        self._fast_path = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)  # it is one operator for a whole block
        self._operators.__enter__()
        self._composites.__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        self._composites.__exit__(*details)
        self._operators.__exit__(*details)
        torch.backends.mha.set_fastpath_enabled(self._fast_path)
        for hook in self._hooks:
            hook.remove()
        self._stack.clear()
        self._leaf.clear()

    # Modules and their weights.

    def _enter_module(self, module: Any, _: Any) -> None:
        if not self._stack:
            self._names = {id(m): n for n, m in module.named_modules()}
            self._roots.append(module)
            for parameter in module.parameters():
                self._learned.setdefault(_storage(parameter), False)
        self._stack.append(self._names.get(id(module), type(module).__name__))
        self._leaf.append(next(module.children(), None) is None)

    def _leave_module(self, *_: Any) -> None:
        if self._stack:
            self._stack.pop()
            self._leaf.pop()

    # Operators.

    def _whole(self, func: Any, args: Any, kwargs: Any, rows: Any) -> Any:
        self._silent += 1
        try:
            out = func(*args, **kwargs)
        finally:
            self._silent -= 1
        if not self._silent:
            self._take(func.__name__, lambda: rows(out), args, _first(out))
        return out

    def _seen(self, name: str, args: Any, kwargs: Any, out: Any) -> None:
        if not self._silent and isinstance(out, torch.Tensor):
            self._take(name, lambda: [*copies_of(name, args), row_of(name, args, kwargs, out)],
                       args, out)

    def _take(self, name: str, make: Any, args: Any, out: Any) -> None:
        try:
            rows = make()
        except (KeyError, IndexError, AttributeError):
            self.unknown[name] = self.unknown.get(name, 0) + 1
            return
        where = self._stack[-1] if self._stack else ""
        if where and not self._leaf[-1]:
            where = f"{where}.{name}"
        for row in rows:
            if row is None or out.numel() == 0:
                continue
            suffix = row.pop("suffix", "")
            row["name"] = (where or name) + suffix
            row["dtype"] = self._dtype or _TYPES.get(out.dtype, "fp32")
            self._learn(row, () if suffix == ".contiguous" else args)
            self.rows.append(row)

    # Weights count once; products of two activations have none.
    def _learn(self, row: Row, args: Any) -> None:
        tensors = [a for a in _flat(args) if isinstance(a, torch.Tensor)]
        new = 0
        seen: Set[int] = set()
        for tensor in tensors:
            key = _storage(tensor)
            if self._learned.get(key) is False and key not in seen:
                seen.add(key)
                new += tensor.numel()
        if self._learned:
            for key in seen:
                self._learned[key] = True
            row.pop("bias", None)
            row["parameters"] = new
            if row["op"] == "gemm" and not any(_storage(t) in self._learned for t in tensors):
                row["op"] = "bmm"  # both sides are made by the network
                row.setdefault("batch", 1)

    def _uncosted(self) -> str:
        if not self.unknown:
            return ""
        lines = [f"  - {{op: {json.dumps('aten.' + op)}, why: it has no cost here, count: {count}, "
                 f"may_multiply: {'false' if op in _NO_PRODUCTS else 'true'}}}"
                 for op, count in sorted(self.unknown.items())]
        return (f"operators: {len(self.rows) + sum(self.unknown.values())}\nuncosted:\n"
                + "\n".join(lines) + "\n")

    def network(self, name: str = "captured") -> Network:
        """What was recorded, as a network for er.exam and all others."""
        if not self.rows and self.unknown:
            names = ", ".join(f"aten.{op}" for op in sorted(self.unknown))
            raise Error(f"no operator that was recorded has a cost: {names} [not-costed]")
        if not self.rows:
            raise Error("nothing was recorded: run the model inside the with block [no-layers]")
        seen: Dict[str, int] = {}
        lines = []
        for row in self.rows:
            row = dict(row)
            seen[row["name"]] = seen.get(row["name"], 0) + 1
            if seen[row["name"]] > 1:
                row["name"] += f"_{seen[row['name']]}"
            cells = ", ".join(f"{key}: {json.dumps(value)}" for key, value in row.items())
            lines.append(f"  - {{{cells}}}")
        text = (f"name: {json.dumps(name)}\nsource: \"recorded from PyTorch {torch.__version__}\"\n"
                "layers:\n" + "\n".join(lines) + "\n" + self._uncosted())
        return _eyeroof.parse_network(text, name + ".yaml")


def _first(result: Any) -> Any:
    while isinstance(result, (tuple, list)) and result:
        result = result[0]
    return result


def _flat(args: Any) -> List[Any]:
    flat: List[Any] = []
    for arg in args:
        flat += _flat(arg) if isinstance(arg, (list, tuple)) else [arg]
    return flat


def _storage(tensor: Any) -> int:
    try:
        return tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):  # tensors without a storage of their own
        return id(tensor)


class _Steps(torch.fx.Interpreter):
    """Runs an exported graph; operators have the names of the modules they come from."""

    def __init__(self, module: Any, capture: Capture) -> None:
        super().__init__(module)
        self._capture = capture

    def run_node(self, node: Any) -> Any:
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        path = stack[-1][0] if stack else ""
        self._capture._stack = [path or "model"]
        self._capture._leaf = [bool(path)]
        return super().run_node(node)


def from_torch(model: Any, *inputs: Any, name: Optional[str] = None, dtype: Optional[str] = None,
               export: bool = False, **named_inputs: Any) -> Network:
    """The network that `model(*inputs)` runs, in evaluation and without gradients.

    Runs on copies on the "meta" device: no memory, no time; a model that looks at numbers on its way
    (masks, lengths) runs as it is, where it has any. export=True goes through torch.export.export
    instead of the modules. Unknown operators are a warning with their counts.
    """
    import warnings

    try:
        capture = _on_meta(model, inputs, named_inputs, dtype, export)
    except (RuntimeError, NotImplementedError) as error:
        if "meta" not in str(error) or export or any(p.is_meta for p in model.parameters()):
            raise
        capture = Capture(dtype)
        was_training = model.training
        try:
            with torch.no_grad(), capture:
                model.eval()(*inputs, **named_inputs)
        finally:
            model.train(was_training)
    if capture.unknown:
        told = ", ".join(f"{op} ({n})" for op, n in sorted(capture.unknown.items()))
        warnings.warn(f"not costed: {told}", stacklevel=2)
    return capture.network(name or type(model).__name__.lower())


def _on_meta(model: Any, inputs: Any, named_inputs: Any, dtype: Optional[str],
             export: bool) -> Capture:
    import copy

    capture = Capture(dtype)
    meta = copy.deepcopy(model).to("meta").eval()
    moved = [_to_meta(i) for i in inputs]
    named = {key: _to_meta(value) for key, value in named_inputs.items()}
    with torch.no_grad():
        if export:
            exported = torch.export.export(meta, tuple(moved), named)
            capture._learned = {_storage(p): False for p in meta.parameters()}
            flat = exported._graph_module_flat_inputs(tuple(moved), named)
            with capture:
                _Steps(exported.graph_module, capture).run(*flat)
        else:
            with capture:
                meta(*moved, **named)
    return capture


def _to_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to("meta")
    if isinstance(value, (list, tuple)):
        return type(value)(_to_meta(v) for v in value)
    if isinstance(value, dict):
        return {k: _to_meta(v) for k, v in value.items()}
    return value

"""Networks of PyTorch models: what a forward pass runs, recorded operator by operator.

    with er.capture() as c:
        model(x)                       # on any device; "meta" needs neither memory nor time
    er.exam(c.network("mine"), on="a100-sxm-40gb")

    net = er.from_torch(model, x)      # the same in one call, on copies without memory

Module names are kept. Unknown operators are counted in `c.unknown` (operator: calls) and omitted.
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
from .torch_ops import Row, attention_row, composite_rows, copies_of, operands_of, rows_of

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
        self._around = 0  # operators that call the one that is seen

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is not torch.ops.prim.device.default:
            self._around += 1
            try:
                with self:  # what is made of other operators is recorded as these
                    parts = func.decompose(*args, **kwargs)
            finally:
                self._around -= 1
            if parts is not NotImplemented:
                return parts
        result = func(*args, **kwargs)
        self._owner._seen(func.overloadpacket.__name__, args, kwargs, _first(result),
                          self._around > 0)
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
        self._of_module = False  # what is learned is known: a module's parameters, and nothing else
        self._made: Dict[int, Any] = {}  # storages: the row that wrote them last, or "constant"
        self._given: Dict[int, Any] = {}  # storages that were there before: their name and bytes
        self._returned: Set[int] = set()  # storages that the outermost module returns
        self._edges: List[List[Any]] = []  # beside rows: what each reads
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
            self._of_module = True
            for parameter in module.parameters():
                self._learned.setdefault(_storage(parameter), False)
            for buffer in module.buffers():
                self._made.setdefault(_storage(buffer), "constant")
        self._stack.append(self._names.get(id(module), type(module).__name__))
        self._leaf.append(next(module.children(), None) is None)

    def _leave_module(self, _: Any, __: Any, out: Any) -> None:
        if len(self._stack) == 1:
            self._returned |= {_storage(t) for t in _tensors(out)}
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
            self._take(func.__name__, lambda: rows(out), args, kwargs, out)
        return out

    def _seen(self, name: str, args: Any, kwargs: Any, out: Any, nested: bool) -> None:
        first = _first(out)
        if not self._silent and isinstance(first, torch.Tensor):
            self._take(name, lambda: [*copies_of(name, args), *rows_of(name, args, kwargs, first)],
                       args, kwargs, out, nested and name.endswith("_"))

    def _take(self, name: str, make: Any, args: Any, kwargs: Any, result: Any,
              within: bool = False) -> None:
        out = _first(result)
        try:
            rows = make()
        except (KeyError, IndexError, AttributeError, TypeError):
            self.unknown[name] = self.unknown.get(name, 0) + 1
            self._forget(args, result)
            return
        if not rows or out.numel() == 0:
            self._forget(args, result)
            return
        where = self._stack[-1] if self._stack else ""
        if where and not self._leaf[-1]:
            where = f"{where}.{name}"
        read = [t for t in _tensors([args, list(kwargs.values())])]
        for i, row in enumerate(rows):
            suffix, own_call = row.pop("suffix", ""), row.pop("own_call", False)
            row["name"] = (where or name) + suffix
            row["dtype"] = self._dtype or _type_of(row, name, out.dtype)
            if "parameters" not in row:  # else another row of the operator has its weights
                self._learn(row, () if suffix == ".contiguous" else args)
            sources = [len(self.rows) - 1] if i else []
            sources += [s for s in map(self._source, read) if s != "parameter"]
            # What another operator calls in place makes no tensor, and costs a launch.
            own_call = own_call or (i == 0 and not (within and self.rows))
            self._edges.append([not own_call, sources])
            self.rows.append(row)
        for tensor in _tensors(result):
            self._made[_storage(tensor)] = len(self.rows) - 1

    # Where a tensor comes from: a row, "constant", "parameter", or what was there before.
    def _source(self, tensor: Any) -> Any:
        key = _storage(tensor)
        if key in self._made:
            return self._made[key]
        if key in self._learned:
            return "parameter"
        if key not in self._given:
            self._roots.append(tensor)
            self._given[key] = ("input" if not self._given else f"input_{len(self._given) + 1}",
                                _bytes(tensor))
        return self._given[key][0]

    # What makes no row: views keep their storage's source, anything else is there anyway.
    def _forget(self, args: Any, result: Any) -> None:
        known = {_storage(t) for t in _tensors(args)}
        for tensor in _tensors(result):
            if _storage(tensor) not in known:
                self._made[_storage(tensor)] = "constant"

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
        if self._of_module:
            for key in seen:
                self._learned[key] = True
            row.pop("bias", None)
            row["parameters"] = new
            if row["op"] == "gemm" and not any(_storage(t) in self._learned for t in tensors):
                row["op"] = "bmm"  # both sides are made by the network
                row.setdefault("batch", 1)

    # The steps of docs/step.md: who reads whose output. What reads a part of a tensor, or one that is
    # repeated, reads a view of it.
    def _graph(self, rows: List[Row]) -> str:
        width = {"fp64": 8, "fp16": 2, "bf16": 2, "int8": 1, "fp8": 1, "int16": 2}.get(
            rows[0]["dtype"], 4)
        given = {name: max(1, size // width) for name, size in self._given.values()}
        whole = {name for name in given if name == "input"}
        for row, (_, sources) in zip(rows, self._edges):
            for need, source in zip(operands_of(row)[0], sources):
                whole -= {source} if source == "input" and need > given["input"] else set()
        lines = [f"  - {{state: {name if name != 'input' else 'input_1'}, elements: {size}}}"
                 for name, size in given.items() if name not in whole]
        last = {source for _, sources in self._edges for source in sources}
        returned = {self._made.get(key) for key in self._returned}
        hidden: Dict[int, str] = {}  # of a recurrent layer's cell: the state that its steps renew
        at = 0
        while at < len(rows):
            steps = self._step(rows, at, whole, hidden, at not in last or at in returned)
            if rows[at].get("count", 1) == 1:
                lines += ["  " + line for line in steps]
                at += 1
                continue
            state = rows[at]["name"] + ".state"  # a product and a cell, one after the other
            hidden[at + 1] = state
            lines.append(f"  - {{view: {json.dumps(state)}, reads: "
                         f"[{json.dumps(rows[at - 1]['name'])}], elements: "
                         f"{operands_of(rows[at])[0][0]}, expand: true}}")
            cell = self._step(rows, at + 1, whole, {}, at + 1 not in last or at + 1 in returned)
            cell[-1] = cell[-1][:-1] + f", as: {json.dumps(state)}}}"
            run = f"- {{run: {json.dumps(rows[at]['name'])}, reads: [{json.dumps(state)}], in_call: true}}"
            inner = "\n".join("      " + line for line in [run, *cell])
            lines.append(f"  - repeat: {rows[at]['count']}\n    steps:\n{inner}")
            at += 2
        return "graph:\n" + "\n".join(lines) + "\n"

    def _step(self, rows: List[Row], i: int, whole: Set[str], hidden: Dict[int, str],
              output: bool) -> List[str]:
        inside, sources = self._edges[i]
        wanted, _ = operands_of(rows[i])

        def name_of(source: Any) -> str:
            if isinstance(source, int):
                return hidden[source] if source in hidden else str(rows[source]["name"])
            return "input_1" if source == "input" and "input" not in whole else str(source)

        lines, reads = [], []
        for place, need in enumerate(wanted):
            source = sources[place] if place < len(sources) else "constant"
            name = name_of(source)
            same = isinstance(source, int) and operands_of(rows[source])[1] == need
            if name not in ("constant", "input") and (not same or source in hidden):
                view = f"{rows[i]['name']}.operand{place + 1}"
                lines.append(f"- {{view: {json.dumps(view)}, reads: [{json.dumps(name)}], "
                             f"elements: {need}, expand: true}}")
                name = view
            reads.append(name)
        for source in sources[len(wanted):]:
            name = name_of(source)
            if name not in reads and name not in ("constant", "input"):
                reads.append(name)
        flags = (", in_call: true" if inside else "") + (", output: true" if output else "")
        lines.append(f"- {{run: {json.dumps(rows[i]['name'])}, "
                     f"reads: [{', '.join(json.dumps(r) for r in reads)}]{flags}}}")
        return lines

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
        rows = [dict(row) for row in self.rows]
        for row in rows:
            own = row["name"]
            seen[own] = seen.get(own, 0) + 1
            while seen[own] > 1 and f"{own}_{seen[own]}" in seen:
                seen[own] += 1
            if seen[own] > 1:
                row["name"] += f"_{seen[own]}"
                seen.setdefault(row["name"], 1)
            cells = ", ".join(f"{key}: {json.dumps(value)}" for key, value in row.items())
            lines.append(f"  - {{{cells}}}")
        text = (f"name: {json.dumps(name)}\nsource: \"recorded from PyTorch {torch.__version__}\"\n"
                "layers:\n" + "\n".join(lines) + "\n" + self._graph(rows) + self._uncosted())
        return _eyeroof.parse_network(text, name + ".yaml")


def _first(result: Any) -> Any:
    while isinstance(result, (tuple, list)) and result:
        result = result[0]
    return result


def _tensors(value: Any) -> List[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for v in value for t in _tensors(v)] if isinstance(value, (list, tuple)) else []


def _bytes(tensor: Any) -> int:
    try:
        return tensor.untyped_storage().nbytes()
    except (RuntimeError, NotImplementedError):
        return tensor.numel() * tensor.element_size()


# As the framework multiplies: products of fp32 in TF32 where its switches allow it.
def _type_of(row: Row, name: str, dtype: Any) -> str:
    kind = _TYPES.get(dtype, "fp32")
    if kind != "fp32" or row["op"] not in ("conv2d", "gemm", "bmm"):
        return kind
    depthwise = row.get("groups", 1) > 1 and row["groups"] == row["c"] and "direction" not in row
    if depthwise:  # a kernel of the framework's own, on vector lanes
        return kind
    backends = torch.backends
    if name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        return _multiplied_in(backends.cudnn, getattr(backends.cudnn, "rnn", None))
    if row["op"] == "conv2d":
        return _multiplied_in(backends.cudnn, getattr(backends.cudnn, "conv", None))
    return _multiplied_in(backends.cuda.matmul)


# By the switch, or where it was set by the newer one (the switch then refuses to be read): the
# precision of the operator, of its library, or of all.
def _multiplied_in(backend: Any, own: Any = None) -> str:
    try:
        return "tf32" if backend.allow_tf32 else "fp32"
    except RuntimeError:
        pass
    for place in (own, backend, torch.backends):
        precision = getattr(place, "fp32_precision", "none")
        if precision not in ("none", "", None):
            return "tf32" if precision == "tf32" else "fp32"
    return "fp32"


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
               export: bool = False, evaluation: bool = True, **named_inputs: Any) -> Network:
    """The network that `model(*inputs)` runs, without gradients and in evaluation;
    evaluation=False keeps the model's mode (batch norms take the batch's statistics). One tuple in
    place of the inputs holds all of them, as for torch.export.

    Runs on copies on the "meta" device: no memory, no time; a model that looks at numbers on its way
    (masks, lengths) runs as it is, where it has any. export=True goes through torch.export.export
    instead of the modules. Unknown operators are a warning with their counts.
    """
    import warnings

    inputs = _unpacked(model, inputs)
    try:
        capture = _on_meta(model, inputs, named_inputs, dtype, export, evaluation)
    except (RuntimeError, NotImplementedError) as error:
        given = [*model.parameters(), *_tensors([list(inputs), named_inputs])]
        if export or any(p.is_meta for p in given) or not _needs_numbers(error):
            raise
        capture = Capture(dtype)
        was_training = model.training
        try:
            with torch.no_grad(), capture:
                (model.eval() if evaluation else model)(*inputs, **named_inputs)
        finally:
            model.train(was_training)
    if capture.unknown:
        told = ", ".join(f"{op} ({n})" for op, n in sorted(capture.unknown.items()))
        warnings.warn(f"not costed: {told}", stacklevel=2)
    return capture.network(name or type(model).__name__.lower())


# One tuple that the model's parameters take apart is all of its inputs.
def _unpacked(model: Any, inputs: Any) -> Any:
    import inspect

    if len(inputs) != 1 or type(inputs[0]) is not tuple:
        return inputs
    try:
        inspect.signature(model.forward).bind(*inputs[0])
    except (AttributeError, TypeError, ValueError):
        return inputs
    return inputs[0]


# Errors of a model that needs numbers: meta tensors have none.
def _needs_numbers(error: Exception) -> bool:
    text = str(error).lower()
    return "meta" in text or "data-dependent" in text or "device" in text


def _on_meta(model: Any, inputs: Any, named_inputs: Any, dtype: Optional[str], export: bool,
             evaluation: bool) -> Capture:
    import copy

    capture = Capture(dtype)
    meta = _without_memory(copy.deepcopy(model))
    meta = meta.eval() if evaluation else meta
    for module in meta.modules():  # tensors that are neither parameters nor buffers
        for key, value in list(vars(module).items()):
            if isinstance(value, torch.Tensor):
                setattr(module, key, value.to("meta"))
    moved = [_to_meta(i) for i in inputs]
    named = {key: _to_meta(value) for key, value in named_inputs.items()}
    with torch.no_grad():
        if export:
            exported = torch.export.export(meta, tuple(moved), named)
            capture._learned = {_storage(p): False for p in meta.parameters()}
            capture._of_module = True
            flat = exported._graph_module_flat_inputs(tuple(moved), named)
            with capture:
                _Steps(exported.graph_module, capture).run(*flat)
        else:
            with capture:
                meta(*moved, **named)
    return capture


# On the meta device; weights that modules share are still one.
def _without_memory(model: Any) -> Any:
    shared: Dict[int, List[Any]] = {}
    for module in model.modules():
        for own in (module._parameters, module._buffers):
            for name, tensor in own.items():
                if tensor is not None:
                    shared.setdefault(id(tensor), [tensor]).append((own, name))
    model = model.to("meta")
    for _, first, *others in shared.values():
        for own, name in others:
            own[name] = first[0][first[1]]
    return model


def _to_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to("meta")
    if isinstance(value, (list, tuple)):
        return type(value)(_to_meta(v) for v in value)
    if isinstance(value, dict):
        return {k: _to_meta(v) for k, v in value.items()}
    return value

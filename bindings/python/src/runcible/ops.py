"""Backends whose ops are Python functions; see register_backend."""

from __future__ import annotations

import atexit
import functools
import gc
import json
import logging
import math
import os
import sys
import traceback
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    List,
    Mapping,
    Optional,
    Tuple,
    Union,
)

from . import native as _native
from ._dtypes import dtype_name, dtype_number
from .errors import Error

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, numpy.dtype[Any]]

_log = logging.getLogger("runcible")
_log.addHandler(logging.NullHandler())

#: The longest message in the library, without its end and the name of the op.
_ROOM = 460

_RC_OK = 0

#: NumPy's formats of elements: q8_0 as blocks of a scale and 32 numbers; other types
#: as bytes.
_FORMATS: Dict[str, Any] = {
    "f32": "<f4",
    "f16": "<f2",
    "f64": "<f8",
    "i8": "i1",
    "i16": "<i2",
    "i32": "<i4",
    "i64": "<i8",
    "bf16": "<u2",
    "q8_0": [("scale", "<f2"), ("numbers", "i1", (32,))],
}


@dataclass(frozen=True)
class Call:
    """One op to compute.

    The arrays are views of the library's memory and valid during the call only:
    keep copies. Inputs are read-only, except caches that the op writes. An output
    may share the memory of an input where plugin_ops.h allows it, as in
    ``numpy.add(a, b, out=a)``.
    """

    #: The name in lower case: "rms_norm".
    op: str
    #: In the order of plugin_ops.h; None for absent operands.
    inputs: Tuple[Optional[Array], ...]
    outputs: Tuple[Array, ...]
    #: By the names of the headers; functions by name: {"function": "silu"}.
    params: Dict[str, Any]
    #: The types of the inputs: "q8_0"; None for absent ones.
    dtypes: Tuple[Optional[str], ...]
    #: For each input a number that identifies a weight and is never used again; 0
    #: for other inputs.
    weights: Tuple[int, ...]


Capability = Union[Iterable[str], Callable[..., object], None]
Capabilities = Union[Mapping[str, Capability], Iterable[str]]


@functools.lru_cache(maxsize=None)
def _ops() -> FrozenSet[str]:
    names = (_native.op_name(code) for code in range(1, 64))
    return frozenset(name.lower() for name in names if name is not None)


@functools.lru_cache(maxsize=256)
def _params(text: str) -> Dict[str, Any]:
    params: Dict[str, Any] = json.loads(text)
    return params


@functools.lru_cache(maxsize=None)
def _format(dtype: str) -> Any:
    import numpy

    return numpy.dtype(_FORMATS.get(dtype, "u1"))


def _view(value: Any) -> Any:
    import numpy

    number, shape, memory, _, _ = value
    dtype = dtype_name(number)
    format = _format(dtype)
    if len(memory) == 0:
        return numpy.empty(shape, format)
    if dtype not in _FORMATS or dtype == "q8_0":
        # A row has a whole number of blocks.
        rows = math.prod(shape[:-1])
        shape = (*shape[:-1], len(memory) // rows // format.itemsize)
    return numpy.ndarray(shape, format, memory)


def _status(error: BaseException) -> int:
    if isinstance(error, Error) and error.status < 0:
        return error.status
    if isinstance(error, MemoryError):
        return int(_native.E_OUT_OF_MEMORY)
    if isinstance(error, KeyboardInterrupt):
        return int(_native.E_CANCELLED)
    return int(_native.E_DEVICE)


def _described(error: BaseException) -> str:
    """Describes an exception and where it was raised, the innermost frame first,
    truncated to the library's limit."""
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    text = text.encode()[: _ROOM // 2].decode(errors="ignore")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == __file__:
            continue
        name = os.path.basename(frame.filename)
        more = f"{text}\n  in {frame.name}, {name}:{frame.lineno}: {frame.line}"
        if len(more.encode()) > _ROOM:
            break
        text = more
    return text


def _grown(views: List[Any], before: List[int]) -> bool:
    """Returns whether there are more references to a view than before."""
    now = [sys.getrefcount(view) for view in views]
    return any(count > known for count, known in zip(now, before))


class _Functions:
    """The object that the library calls for a backend; see swig/op_backend.h."""

    def __init__(self, name: str, backend: Any) -> None:
        self._name = name
        self._backend = backend
        self._able = _able_of(name, backend)
        compute = getattr(backend, "compute", None)
        self._computes = {op: _computer(name, backend, op, compute) for op in self._able}

    @property
    def features(self) -> str:
        return " ".join(sorted(self._able))

    def health(self) -> Tuple[int, str]:
        try:
            said = getattr(self._backend, "health", None)
            if callable(said):
                said = said()
            if said is None or said is True:
                return _RC_OK, ""
            if said is False:
                return int(_native.E_BACKEND_UNAVAILABLE), "it says that it is not well"
            return _RC_OK, str(said)
        except BaseException as error:
            return int(_native.E_BACKEND_UNAVAILABLE), _described(error)

    def supports(self, call: Any) -> Tuple[int, str]:
        try:
            name, params, inputs, outputs, _ = call
            op = name.lower()
            if op not in self._able:
                able = ", ".join(sorted(self._able))
                return int(_native.E_UNSUPPORTED), f"{self._name} computes {able}"
            allowed = self._able[op]
            values = [value for value in (*inputs, *outputs) if value is not None]
            types = {dtype_name(value[0]) for value in values}
            if callable(allowed):
                said = allowed(types=types, params=dict(_params(params)))
                if said is True:
                    return _RC_OK, ""
                reason = said if isinstance(said, str) else "not with these types"
                return int(_native.E_UNSUPPORTED), reason
            missing = types - allowed - {"i32"}
            if missing:
                types_text = ", ".join(sorted(missing))
                return int(_native.E_UNSUPPORTED), f"it does not support {types_text}"
            return _RC_OK, ""
        except BaseException as error:
            self._log_failure("supports", error)
            return int(_native.E_UNSUPPORTED), _described(error)

    def compute(self, call: Any) -> Tuple[int, str]:
        views: List[Any] = []
        try:
            name, params, inputs, outputs, _ = call
            arrays = [None if each is None else _view(each) for each in inputs]
            results = [_view(each) for each in outputs if each is not None]
            views = [each for each in (*arrays, *results) if each is not None]
            made = Call(
                name.lower(),
                tuple(arrays),
                tuple(results),
                dict(_params(params)),
                tuple(None if each is None else dtype_name(each[0]) for each in inputs),
                tuple(0 if each is None else each[3] for each in inputs),
            )
            del arrays, results
            before = [sys.getrefcount(view) for view in views]
            self._computes[made.op](made)
            if _grown(views, before):
                gc.collect()  # reference cycles, such as those of exceptions
            if _grown(views, before):
                return int(_native.E_DEVICE), (
                    "the function kept a view of an operand, whose memory the library "
                    "has taken back; keep a copy"
                )
            return _RC_OK, ""
        except BaseException as error:
            self._log_failure(str(call[0]).lower(), error)
            # Its frames refer to the views.
            try:
                return _status(error), _described(error)
            finally:
                traceback.clear_frames(error.__traceback__)

    def forget(self, number: int) -> None:
        try:
            forget = getattr(self._backend, "forget", None)
            if forget is not None:
                forget(number)
        except BaseException as error:
            self._log_failure("forget", error)

    def _log_failure(self, what: str, error: BaseException) -> None:
        _log.error("%s of the backend %s failed", what, self._name, exc_info=error)


def _types_of(types: Capability) -> Any:
    if callable(types):
        return types
    names = ["f32"] if types is None else [types] if isinstance(types, str) else types
    found = frozenset(names)
    for each in found:
        dtype_number(each)  # raises for an unknown type
    return found


def _able_of(name: str, backend: Any) -> Dict[str, Any]:
    able: Optional[Capabilities] = getattr(backend, "capabilities", None)
    if callable(able):
        able = able()
    if able is None or isinstance(able, str):
        raise TypeError(
            f"the backend {name} must list in its capabilities the ops it computes: "
            '{"add", "rms_norm"}, or {"linear": ("f32", "q8_0")} with their types'
        )
    table: Mapping[str, Capability]
    table = able if isinstance(able, Mapping) else dict.fromkeys(able)
    found = {op: _types_of(types) for op, types in table.items()}
    for op in found:
        if op not in _ops():
            raise ValueError(
                f"the backend {name} says that it computes {op!r}, which is no op; "
                f"ops are {', '.join(sorted(_ops()))}"
            )
    return found


def _computer(name: str, backend: Any, op: str, compute: Any) -> Callable[[Call], None]:
    method = getattr(backend, op, None)
    if callable(method):
        function = method

        def call_method(call: Call) -> None:
            function(*call.inputs, *call.outputs, **call.params)

        return call_method
    if callable(compute):
        general: Callable[[Call], None] = compute
        return general
    raise TypeError(
        f"the backend {name} says that it computes {op}, but has neither a method "
        f"{op} nor one called compute"
    )


def register_backend(name: str, backend: Any, *, description: str = "") -> Any:
    """Registers a backend whose ops an object computes.

        class Sums:
            capabilities = {"add", "rms_norm"}

            def add(self, a, b, out):
                numpy.add(a, b, out=out)

            def rms_norm(self, x, weight, out, *, epsilon):
                mean = (x * x).mean(-1, keepdims=True)
                out[...] = x / numpy.sqrt(mean + epsilon) * weight

        runcible.register_backend("sums", Sums)
        runcible.Model("builtin:fable", "sums,cpu")

    backend: an object, or a class, which is called to make one. It has

    ``capabilities``: the ops that it computes, by their names in plugin_ops.h in
    lower case, with the types that their values may have: ``{"linear": ("f32",
    "q8_0")}``; f32 by default, besides the i32 of row numbers. A function in their
    place is called with ``types`` and ``params`` and returns True, or the reason
    why not. Everything else runs on the backends that follow in a chain.

    A method for each op, or ``compute(call)`` for those without one. A method
    receives the inputs and the outputs in the order of plugin_ops.h, None for
    absent ones, and the parameters by keyword, and writes the outputs. See Call.

    ``health``, optional: a function that returns False or raises if the backend
    cannot be opened; an exception is the reason. A text that it returns is reported
    as the driver of its device.

    ``forget(number)``, optional: called when a weight has been freed; see
    Call.weights.

    Functions are called by any thread, with the interpreter's lock, and by several
    at once. They must not use objects that are open on the backend itself. An
    exception is the failure of the op, with its message and where it was raised;
    the logger "runcible" logs the whole traceback.

    Returns the object. ValueError: the name is invalid or taken, or an op is
    unknown.
    """
    made = backend() if isinstance(backend, type) else backend
    functions = _Functions(name, made)
    shown = description or f"{type(made).__module__}.{type(made).__qualname__}"
    _native.op_backend_register(name, shown, functions.features, functions)
    return made


def unregister_backend(name: str) -> None:
    """Removes a backend that register_backend has added.

    It cannot be found or opened any more, and its name is free; backends that are
    open continue to work.
    """
    _native.op_backend_unregister(name)


# The library must not call an interpreter that ends.
atexit.register(_native.op_backends_end)

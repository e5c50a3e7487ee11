"""Custom ops: tensor ops that the program defines; see custom_op."""

from __future__ import annotations

import gc
import re
import sys
import traceback
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from . import native as _native
from ._handle import Handle, need
from .ops import _RC_OK, _described, _grown, _log, _status, _view
from .tensor import Tensor


def _put(made: Any, results: List[Any]) -> None:
    """Copies the arrays that a function returned, if any, to the results."""
    if made is None:
        return
    if len(results) == 1 and not isinstance(made, tuple):
        made = (made,)
    if len(made) != len(results):
        raise ValueError(
            f"the function returned {len(made)} arrays, of {len(results)} outputs"
        )
    for result, numbers in zip(results, made):
        if getattr(numbers, "shape", result.shape) != result.shape:
            raise ValueError(
                f"the function returned an array of shape {numbers.shape}, "
                f"where {result.shape} is wanted"
            )
        result[...] = numbers


class _Function:
    """The object that the library calls for a function; see swig/custom_op.h."""

    def __init__(
        self, name: str, function: Callable[..., Any], attributes: List[Tuple[str, str]]
    ) -> None:
        self._name = name
        self._function = function
        self._attributes = attributes

    def compute(self, inputs: Any, outputs: Any, attributes: Any) -> Tuple[int, str]:
        views: List[Any] = []
        try:
            arrays = [_view(each) for each in inputs]
            results = [_view(each) for each in outputs]
            views = [*arrays, *results]
            keywords: Dict[str, Any] = {
                name: int(number) if kind == "int" else number
                for (name, kind), number in zip(self._attributes, attributes)
            }
            before = [sys.getrefcount(view) for view in views]
            _put(self._function(*arrays, *results, **keywords), results)
            if _grown(views, before):
                gc.collect()  # reference cycles, such as those of exceptions
            if _grown(views, before):
                return int(_native.E_DEVICE), (
                    "the function kept a view of an operand, whose memory the library "
                    "has taken back; keep a copy"
                )
            return _RC_OK, ""
        except BaseException as error:
            _log.error("the custom op %s failed", self._name, exc_info=error)
            # Its frames refer to the views.
            try:
                return _status(error), _described(error)
            finally:
                traceback.clear_frames(error.__traceback__)


class CustomOp(Handle):
    """An op that the program defines, called with tensors; see custom_op."""

    __slots__ = ("name", "_attributes", "_outputs")

    def __init__(
        self, proxy: Any, name: str, attributes: List[Tuple[str, str]], outputs: int
    ) -> None:
        self._proxy = proxy
        self.name = name
        self._attributes = attributes
        self._outputs = outputs

    def __call__(
        self, *inputs: Tensor, **attributes: float
    ) -> Union[Tensor, Tuple[Tensor, ...]]:
        """Returns the result, or a tuple of them. A graph that records records it."""
        if not inputs:
            raise TypeError(f"{self.name} needs at least one tensor")
        handles = [need(each, Tensor, "inputs") for each in inputs]
        names = [name for name, _ in self._attributes]
        unknown = [name for name in attributes if name not in names]
        missing = [name for name in names if name not in attributes]
        if unknown or missing:
            raise TypeError(
                f"{self.name} has the attributes {', '.join(names) or '(none)'}; "
                + (f"unknown: {', '.join(unknown)}" if unknown else "")
                + ("; " if unknown and missing else "")
                + (f"missing: {', '.join(missing)}" if missing else "")
            )
        made = _native.custom_op_compute(
            self._handle,
            handles,
            [attributes[name] for name in names],
            self._outputs,
        )
        results = tuple(inputs[0]._made(proxy) for proxy in made)
        return results[0] if len(results) == 1 else results

    def _said(self) -> str:
        return self.name


def custom_op(
    signature: str,
    function: Union[Callable[..., Any], int, None] = None,
    *,
    name: Optional[str] = None,
    attributes: str = "",
    items: Optional[str] = None,
    opencl_c: Optional[str] = None,
    opencl_c_head: Optional[str] = None,
    glsl: Optional[str] = None,
    glsl_head: Optional[str] = None,
    grid: Optional[str] = None,
    group: Optional[str] = None,
) -> CustomOp:
    """Makes an op from a function on NumPy arrays, and kernels for GPUs.

        def clipped(x, y, *, limit):
            numpy.clip(x, -limit, limit, out=y)

        clip = runcible.custom_op(
            "x F32 [...] -> y F32 [...]",
            clipped,
            attributes="limit float",
            opencl_c="size_t i = get_global_id(0);"
            "if (i < y_elements) y[i] = clamp(x[i], -limit, limit);",
            grid="elements(y)",
        )
        y = clip(x, limit=2)

    custom_op.h describes the signature, the attributes, the bodies of kernels and
    the grid. The function receives the arrays of the inputs and of the outputs in
    this order, as views of memory that are valid during the call only, and the
    attributes by keyword. It writes the outputs, or returns the result, or a tuple
    of results, which are then copied. If it raises, the call of the op raises the
    exception of that status, with its text. It runs on the CPU where a device has
    no kernel in its language, and any thread may call it.

    A number is the address of a C function, an rc_custom_function, which is called
    with NULL as `user`: ctypes.cast(library.clip, ctypes.c_void_p).value. With
    `items`, an expression as in the signature, threads divide its work.
    """
    address = 0
    if isinstance(function, int):
        address, function = function, None
    if items is not None and address == 0:
        raise TypeError("items divide the work of a C function; a Python function has one")
    called = name
    if called is None:
        called = re.sub(r"\W", "_", getattr(function, "__name__", "custom_op"))
        called = called.lstrip("0123456789") or "custom_op"
    pairs: List[Tuple[str, str]] = []
    for each in attributes.split(",") if attributes.strip() else []:
        words = each.split()
        if len(words) == 2:  # otherwise the library reports the error
            pairs.append((words[0], words[1]))
    proxy = _native.custom_op_create(
        called,
        signature,
        attributes,
        None if function is None else _Function(called, function, pairs),
        opencl_c,
        opencl_c_head,
        glsl,
        glsl_head,
        grid,
        group,
        items,
        address,
    )
    outputs = signature.partition("->")[2]
    # Commas outside of shapes separate tensors.
    count = len(re.sub(r"\[[^\]]*\]", "", outputs).split(","))
    return CustomOp(proxy, called, pairs, count)

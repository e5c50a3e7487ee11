"""Graphs: ops of tensors that are recorded and run as one."""

from __future__ import annotations

import functools
import weakref
from contextvars import Token
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type

from . import native as _native
from . import reports
from ._current import Recording, current
from ._handle import milliseconds, need
from ._loops import loop_of, running
from ._native import recording_changed
from .backend import Backend
from .tensor import Tensor


class Graph:
    """Ops of tensors that are recorded and run as one.

        with runcible.graph() as graph:
            y = (x * scale + offset).relu()
        y.numpy()
        others = graph.run({x: x2})[y]

    Within the block, in the thread or task that runs it, ops are recorded and not
    computed; an op reports types and shapes that do not fit. When the block ends,
    all recorded tensors that are still referenced are computed at once: a chain of
    elementwise ops passes over memory once, and a product includes the bias and the
    function that follow. The results equal those of the separate ops; see graph.h.

    A tensor that is read within the block is computed at that point, with all ops
    before it, and the ops that follow become a separate graph; such a graph cannot
    be run again.
    """

    def __init__(self, backend: Optional[Backend] = None) -> None:
        if backend is not None:
            need(backend, Backend, "backend")
        self._backend = backend
        self._token: Optional[Token[Optional[Recording]]] = None
        self._proxy: Any = None  # the graph that records, or has recorded
        self._begun = False
        self._parts = 0
        # By the number of the input: a tensor, and its replacement.
        self._inputs: List[Tuple[Tensor, Any]] = []
        self._stand_ins: Dict[Tensor, Any] = {}
        self._made: List[weakref.ref[Tensor]] = []
        self._outputs: List[Tensor] = []

    # ---- Recording

    def __enter__(self) -> Graph:
        if current.get() is not None:
            raise ValueError("a graph is being recorded; end it first")
        if self._parts > 0 or self._begun:
            raise ValueError("a graph is recorded once; make another one")
        self._token = current.set(self)
        recording_changed(1)
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self._token is not None:
            recording_changed(-1)
            current.reset(self._token)
            self._token = None
        if error is None:
            self.compute()
        else:
            self._forget()

    def operand(self, tensor: Tensor) -> Any:
        own = tensor._own
        if tensor._recording is self:
            return own
        if tensor._recording is not None:
            tensor._recording.compute()
            own = tensor._own
        found = self._stand_ins.get(tensor)
        if found is None:
            if not self._begun:
                if self._backend is None:
                    self._backend = tensor._backend
                self._proxy = _native.graph_begin(
                    need(self._backend, Backend, "backend")
                )
                self._begun = True
            found = _native.graph_input(
                self._proxy, _native.tensor_dtype(own), tensor.shape
            )
            self._stand_ins[tensor] = found
            self._inputs.append((tensor, own))
        return found

    def add(self, tensor: Tensor) -> None:
        tensor._recording = self
        self._made.append(weakref.ref(tensor))

    def compute(self) -> None:
        """Computes what was recorded so far and is still referenced."""
        if not self._begun:
            return
        made = [each() for each in self._made]
        outputs = [each for each in made if each is not None and not each.closed]
        try:
            _native.graph_end(self._proxy, [each._own for each in outputs])
            found = _native.graph_compute(
                self._proxy, [own for _, own in self._inputs], 0, len(outputs)
            )
        except BaseException:
            self._forget()
            raise
        for tensor, proxy in zip(outputs, found):
            tensor._proxy = proxy
            tensor._recording = None
        self._outputs = outputs
        self._parts += 1
        self._begun = False
        self._made = []
        self._stand_ins = {}
        if current.get() is self:  # continue with another graph
            self._inputs = []
            self._outputs = []
            self._proxy = None

    def _forget(self) -> None:
        """Marks recorded tensors that will never have numbers."""
        for each in self._made:
            tensor = each()
            if tensor is not None:
                tensor._recording = None
                tensor._proxy = None
        self._made = []
        self._stand_ins = {}
        self._inputs = []
        self._proxy = None
        self._begun = False

    # ---- Running

    def _need_one(self) -> None:
        """Raises unless everything recorded is one graph, which can be run again."""
        if current.get() is self or self._token is not None:
            raise ValueError("the graph is still being recorded")
        if self._parts != 1:
            raise ValueError(
                "the graph cannot be run again: "
                + (
                    "nothing was recorded in it"
                    if self._parts == 0
                    else "numbers were read while it was being recorded"
                )
            )

    def run(
        self,
        inputs: Optional[Mapping[Tensor, Tensor]] = None,
        *,
        deadline: Optional[float] = None,
    ) -> Dict[Tensor, Tensor]:
        """Computes again, with other tensors of the same types and shapes in place
        of some that it was recorded with.

        Returns a new tensor for each one that the block has left. `deadline`:
        seconds; then WaitTimeoutError. The graph keeps the tensors that it was
        recorded with and those that the block left.
        """
        self._need_one()
        others = dict(inputs or {})
        given = []
        for tensor, own in self._inputs:
            other = others.pop(tensor, None)
            given.append(own if other is None else _operand(other))
        if others:
            raise ValueError(f"{next(iter(others))!r} is not an input of the graph")
        limit = 0 if deadline is None else milliseconds(deadline, "deadline")
        found = _native.graph_compute(
            self._proxy, given, limit, len(self._outputs)
        )
        return {
            tensor: Tensor._of(proxy, tensor._backend)
            for tensor, proxy in zip(self._outputs, found)
        }

    async def run_async(
        self,
        inputs: Optional[Mapping[Tensor, Tensor]] = None,
        *,
        deadline: Optional[float] = None,
    ) -> Dict[Tensor, Tensor]:
        """The same while the event loop goes on; cancelling the task cancels the
        runs of the graph."""
        loop = loop_of(running())
        try:
            return await loop.call(
                functools.partial(self.run, inputs, deadline=deadline),
                leave=True,
            )
        except loop.cancelled:
            self.cancel()
            raise

    @property
    def info(self) -> reports.GraphReport:
        """The report of a graph that can be run again."""
        self._need_one()
        report = _native.graph_report()
        _native.graph_info(self._proxy, report)
        return reports.copied(reports.GraphReport, report)

    def cancel(self) -> None:
        """Ends the runs in flight with CancelledError."""
        if self._proxy is not None:
            _native.graph_cancel(self._proxy)


def _operand(tensor: Tensor) -> Any:
    need(tensor, Tensor, "inputs")
    return tensor._numbers


def graph(backend: Optional[Backend] = None) -> Graph:
    """Makes a graph that records the ops of a block, on the backend of the first
    tensor if none is given."""
    return Graph(backend)

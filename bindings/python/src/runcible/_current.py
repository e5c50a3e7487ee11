"""The graph that records in this thread or task."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Optional, Protocol

if TYPE_CHECKING:
    from .tensor import Tensor


class Recording(Protocol):
    """The interface of a graph for tensors."""

    def operand(self, tensor: Tensor) -> Any:
        """Returns the handle that represents a tensor in the graph."""

    def add(self, tensor: Tensor) -> None:
        """Adds a tensor that a recorded op has made."""

    def compute(self) -> None:
        """Computes the ops recorded so far."""


current: ContextVar[Optional[Recording]] = ContextVar(
    "runcible.graph", default=None
)

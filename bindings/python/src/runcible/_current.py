"""Which graph records in this thread or task."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Optional, Protocol

if TYPE_CHECKING:
    from .tensor import Tensor


class Recording(Protocol):
    """A graph as tensors see it."""

    def operand(self, tensor: Tensor) -> Any:
        """The handle of what stands for a tensor in the graph."""

    def add(self, tensor: Tensor) -> None:
        """A tensor was made by an op that was recorded."""

    def compute(self) -> None:
        """Computes what was recorded so far."""


current: ContextVar[Optional[Recording]] = ContextVar(
    "runcible.graph", default=None
)

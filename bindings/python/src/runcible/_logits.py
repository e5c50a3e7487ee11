"""The logits of a session: memory that its next decode overwrites."""

from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Iterator, Optional

from . import native as _native

if TYPE_CHECKING:
    import numpy

    Array = numpy.ndarray[Any, numpy.dtype[numpy.float32]]


class _Lent:
    """The owner of NumPy arrays that expose the memory of a session."""

    __slots__ = ("__array_interface__", "_session", "__weakref__")

    def __init__(self, session: Any) -> None:
        address, rows, columns = _native.session_logits(session)
        self._session = session
        self.__array_interface__ = {
            "shape": (rows, columns),
            "typestr": "=f4",
            "data": (address, True),  # read-only
            "version": 3,
        }


class Logits:
    """Guards the logits, so that they are not written while they are read.

    The mutexes are reentrant, because a signal handler may take them again. A
    request begins without waiting for a decode of another thread.
    """

    __slots__ = ("_decode", "_read", "_lent")

    def __init__(self) -> None:
        self._decode = threading.RLock()  # taken first
        self._read = threading.RLock()
        self._lent: Optional[weakref.ref[_Lent]] = None

    @contextmanager
    def decoding(self) -> Iterator[None]:
        with self._decode:
            self._check()
            yield

    @contextmanager
    def requesting(self) -> Iterator[None]:
        with self._read:
            self._check()
            yield

    def _check(self) -> None:
        if self._lent is not None and self._lent() is not None:
            raise BufferError(
                "arrays expose the logits of this session: delete them, "
                "or take logits() with copy=True"
            )

    def array(self, session: Any, copy: bool) -> Array:
        import numpy

        with self._decode, self._read:
            if copy:
                return numpy.array(_Lent(session))
            lent = None if self._lent is None else self._lent()
            if lent is None:
                lent = _Lent(session)
                self._lent = weakref.ref(lent)
            else:
                _native.session_logits(session)  # raises if there are none now
            return numpy.asarray(lent)

"""Exceptions: one class for each status of the library.

Each is also the built-in exception with the same meaning, or RuntimeError if there
is none.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Dict, Optional, Type


if TYPE_CHECKING:
    from .reports import Report


class Error(Exception):
    """An error that the library reports. The message names the values concerned."""

    #: The number of the status.
    status: int = 0
    #: The report of a generation that failed.
    report: Optional[Report] = None
    #: The seconds after which to try again; None: not known.
    retry_after: Optional[float] = None

    def __str__(self) -> str:
        # OSError would show its number and the system's text instead.
        return str(self.args[0]) if self.args else ""


# :api: errors


def _all_classes() -> Dict[int, Type[Error]]:
    classes: Dict[int, Type[Error]] = {}
    waiting = [Error]
    while waiting:
        known = waiting.pop()
        waiting += known.__subclasses__()
        classes[known.status] = known
    return classes


_classes = _all_classes()

#: The system's texts of its errors, which end the message of a FileError.
_system_errors = {os.strerror(number): number for number in errno.errorcode}


def _errno_of(error: OSError, message: str) -> int:
    if isinstance(error, FileNotFoundError):
        return errno.ENOENT
    if isinstance(error, TimeoutError):
        return errno.ETIMEDOUT
    return _system_errors.get(message.rpartition(": ")[2], errno.EIO)


def of_status(status: int, message: str, retry_after_ms: int = -1) -> Error:
    """The exception of a status; ``Error`` itself for an unknown status."""
    error = _classes.get(status, Error)(message)
    error.status = status
    if retry_after_ms >= 0:
        error.retry_after = retry_after_ms / 1000
    if isinstance(error, OSError):
        error.errno = _errno_of(error, message)
        error.strerror = os.strerror(error.errno)
    return error

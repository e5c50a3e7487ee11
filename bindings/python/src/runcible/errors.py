"""Exceptions: one class for each status of the library.

Each is also the built-in exception of the same meaning; RuntimeError where there
is none.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Dict, Optional, Type

from ._docs import documented

if TYPE_CHECKING:
    from .generation import Report


class Error(Exception):
    """What the library reports. The message names the values concerned."""

    #: The number of the status.
    status: int = 0
    #: What had been done when a generation failed.
    report: Optional[Report] = None

    def __str__(self) -> str:
        # OSError would show its number and the system's words instead.
        return str(self.args[0]) if self.args else ""


@documented("RC_E_INVALID_ARGUMENT")
class InvalidArgumentError(Error, ValueError):
    status = -1


@documented("RC_E_OUT_OF_MEMORY")
class OutOfMemoryError(Error, MemoryError):
    status = -2


@documented("RC_E_NOT_FOUND")
class NotFoundError(Error, FileNotFoundError, LookupError):
    status = -3


@documented("RC_E_IO")
class FileError(Error, OSError):
    status = -4


@documented("RC_E_FORMAT")
class FormatError(Error, ValueError):
    status = -5


@documented("RC_E_UNSUPPORTED")
class UnsupportedError(Error, RuntimeError):
    status = -6


@documented("RC_E_BACKEND_UNAVAILABLE")
class BackendUnavailableError(Error, RuntimeError):
    status = -7


@documented("RC_E_DEVICE")
class DeviceError(Error, RuntimeError):
    status = -8


@documented("RC_E_DEVICE_LOST")
class DeviceLostError(DeviceError):
    status = -9


@documented("RC_E_DEVICE_MEMORY")
class DeviceMemoryError(Error, MemoryError):
    status = -10


@documented("RC_E_TIMEOUT")
class WaitTimeoutError(Error, TimeoutError):
    status = -11


@documented("RC_E_CANCELLED")
class CancelledError(Error, RuntimeError):
    status = -12


@documented("RC_E_DEADLINE")
class DeadlineError(Error, TimeoutError):
    status = -13


@documented("RC_E_CONTEXT_FULL")
class ContextFullError(Error, RuntimeError):
    status = -14


@documented("RC_E_BUSY")
class BusyError(Error, RuntimeError):
    status = -15


@documented("RC_E_QUOTA")
class QuotaError(Error, RuntimeError):
    status = -16


@documented("RC_E_CLOSED")
class ClosedError(Error, ValueError):
    status = -17


@documented("RC_E_ABI")
class AbiError(Error, RuntimeError):
    status = -18


@documented("RC_E_INTERNAL")
class InternalError(Error, RuntimeError):
    status = -19


def _all_classes() -> Dict[int, Type[Error]]:
    classes: Dict[int, Type[Error]] = {}
    waiting = [Error]
    while waiting:
        known = waiting.pop()
        waiting += known.__subclasses__()
        classes[known.status] = known
    return classes


_classes = _all_classes()

#: What the system says of its errors, which ends the message of a FileError.
_system_errors = {os.strerror(number): number for number in errno.errorcode}


def _errno_of(error: OSError, message: str) -> int:
    if isinstance(error, FileNotFoundError):
        return errno.ENOENT
    if isinstance(error, TimeoutError):
        return errno.ETIMEDOUT
    return _system_errors.get(message.rpartition(": ")[2], errno.EIO)


def of_status(status: int, message: str) -> Error:
    """The exception of a status; of one that is not known, ``Error`` itself."""
    error = _classes.get(status, Error)(message)
    error.status = status
    if isinstance(error, OSError):
        error.errno = _errno_of(error, message)
        error.strerror = os.strerror(error.errno)
    return error

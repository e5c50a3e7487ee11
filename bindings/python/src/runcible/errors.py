"""Exceptions: one class for each status of the library.

Each is also the built-in exception of the same meaning, where there is one.
"""

from __future__ import annotations

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


@documented("RC_E_INVALID_ARGUMENT")
class InvalidArgumentError(Error, ValueError):
    status = -1


@documented("RC_E_OUT_OF_MEMORY")
class OutOfMemoryError(Error, MemoryError):
    status = -2


@documented("RC_E_NOT_FOUND")
class NotFoundError(Error, LookupError):
    status = -3


@documented("RC_E_IO")
class FileError(Error, OSError):
    status = -4


@documented("RC_E_FORMAT")
class FormatError(Error, ValueError):
    status = -5


@documented("RC_E_UNSUPPORTED")
class UnsupportedError(Error):
    status = -6


@documented("RC_E_BACKEND_UNAVAILABLE")
class BackendUnavailableError(Error):
    status = -7


@documented("RC_E_DEVICE")
class DeviceError(Error):
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
class CancelledError(Error):
    status = -12


@documented("RC_E_DEADLINE")
class DeadlineError(Error, TimeoutError):
    status = -13


@documented("RC_E_CONTEXT_FULL")
class ContextFullError(Error):
    status = -14


@documented("RC_E_BUSY")
class BusyError(Error):
    status = -15


@documented("RC_E_QUOTA")
class QuotaError(Error):
    status = -16


@documented("RC_E_CLOSED")
class ClosedError(Error):
    status = -17


@documented("RC_E_ABI")
class AbiError(Error):
    status = -18


@documented("RC_E_INTERNAL")
class InternalError(Error):
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


def of_status(status: int, message: str) -> Error:
    """The exception of a status; of one that is not known, ``Error`` itself."""
    error = _classes.get(status, Error)(message)
    error.status = status
    return error

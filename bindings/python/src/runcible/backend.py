"""Backends and devices."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional, Union

from . import native as _native
from ._docs import documented
from ._handle import Handle, milliseconds, set_options
from .reports import DeviceReport, Discovery, Usage, copied, device_report


@documented("rc_backend", "rc_backend_open", "rc_backend_options")
class Backend(Handle):
    __slots__ = ()

    def __init__(
        self,
        spec: Optional[str] = None,
        *,
        required_memory: Optional[int] = None,
        memory_limit: Optional[int] = None,
        threads: Optional[int] = None,
        max_requests: Optional[int] = None,
        timeout: Optional[float] = None,
        strict: Optional[bool] = None,
        profile: Optional[bool] = None,
    ) -> None:
        options = set_options(
            _native.backend_options(),
            required_memory=required_memory,
            memory_limit=memory_limit,
            threads=threads,
            max_requests=max_requests,
            timeout_ms=milliseconds(timeout, "timeout"),
            strict=strict,
            profile=profile,
        )
        self._proxy = _native.backend_open(spec, options)

    @documented("rc_backend_explain")
    def explain(self) -> Dict[str, Any]:
        account: Dict[str, Any] = json.loads(
            _native.backend_explain(self._handle)
        )
        return account

    @property
    @documented("rc_backend_device")
    def device(self) -> DeviceReport:
        report = _native.device_report()
        proxy = self._handle
        _native.backend_device(proxy, report)
        return device_report(report)

    @property
    @documented("rc_backend_usage_report")
    def usage(self) -> Usage:
        report = _native.backend_usage_report()
        _native.backend_usage(self._handle, report)
        return copied(Usage, report)

    @documented("rc_backend_trace")
    def trace(self) -> Dict[str, Any]:
        events: Dict[str, Any] = json.loads(
            _native.backend_trace(self._handle)
        )
        return events

    def __repr__(self) -> str:
        if self.closed:
            return "<Backend, closed>"
        return f"<Backend {self.device.id}>"


def backend_of(backend: Union[Backend, str, None]) -> Backend:
    """A backend itself, or one that is opened by what it is called."""
    if isinstance(backend, Backend):
        return backend
    if backend is None or isinstance(backend, str):
        return Backend(backend)
    raise TypeError(
        f"backend must be a Backend or a str, not {type(backend).__name__}"
    )


@documented("rc_discover")
def discover() -> Discovery:
    found = _native.discover()
    devices = []
    for i in range(_native.device_list_count(found)):
        report = _native.device_report()
        _native.device_list_get(found, i, report)
        devices.append(device_report(report))
    return Discovery(devices, _native.device_list_automatic(found))

"""Backends and devices."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional, Union

from . import native as _native
from . import reports
from ._handle import Handle, set_options
from .reports import DeviceReport, Discovery, copied


class Backend(Handle):
    # :header: rc_backend rc_backend_open rc_backend_options
    __slots__ = ()

    def __init__(
        self,
        spec: Optional[str] = None,
        *,
        # :api: keywords rc_backend_options
    ) -> None:
        options = set_options(
            _native.backend_options(),
            # :api: values rc_backend_options
        )
        self._proxy = _native.backend_open(spec, options)

    # :api: methods rc_backend

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


def discover() -> Discovery:
    # :header: rc_discover
    found = _native.discover()
    devices = []
    for i in range(_native.device_list_count(found)):
        report = _native.device_report()
        _native.device_list_get(found, i, report)
        devices.append(copied(DeviceReport, report))
    return Discovery(devices, _native.device_list_automatic(found))

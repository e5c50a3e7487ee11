"""Backends and devices."""

from __future__ import annotations

import functools
import json
from typing import Any, Callable, Dict, Optional, Union

from . import native as _native
from . import reports
from ._handle import Handle, need, set_options
from ._loops import loop_of, running
from ._progress import load_progress
from .reports import DeviceReport, Discovery, copied
from .tenant import Tenant


class Backend(Handle):
    # :header: rc_backend rc_backend_open rc_backend_options
    __slots__ = ("_alone",)

    #: Whether it has one device and always had; None: not known yet.
    _alone: Optional[bool]

    def __init__(
        self,
        spec: Optional[str] = None,
        *,
        # :api: keywords rc_backend_options
        tenant: Optional[Tenant] = None,
        progress: Union[Callable[[float], object], None] = None,
    ) -> None:
        options = set_options(
            _native.backend_options(),
            # :api: values rc_backend_options
        )
        if tenant is not None:
            options.set_tenant(need(tenant, Tenant, "tenant"))
        with load_progress(progress) as report:
            # `report` keeps it alive as long as the call may need it.
            options.set_progress(report)
            self._proxy = _native.backend_open(spec, options)
        self._alone = None

    @classmethod
    async def open(
        cls,
        spec: Optional[str] = None,
        *,
        progress: Optional[Callable[[float], object]] = None,
        **options: Any,
    ) -> Backend:
        """Opens in a thread while the event loop goes on.

        The keywords are those of the class; `progress` is called on the event
        loop. Cancelling the task that waits cancels the opening.

        # :api: described rc_backend_options
        """
        opening = functools.partial(cls, spec, **options)
        return await loop_of(running()).load(opening, progress)

    def switch(
        self,
        spec: Optional[str] = None,
        *,
        # :api: keywords rc_backend_switch_options
    ) -> None:
        # :header: rc_backend_switch rc_backend_switch_options
        options = set_options(
            _native.backend_switch_options(),
            # :api: values rc_backend_switch_options
        )
        self._alone = False
        _native.backend_switch(self._handle, spec, options)

    async def switch_async(self, spec: Optional[str] = None, **options: Any) -> None:
        """The same in a thread, while the event loop goes on.

        # :api: described rc_backend_switch_options
        """
        switching = functools.partial(self.switch, spec, **options)
        await loop_of(running()).call(switching)

    # :api: methods rc_backend

    def _said(self) -> str:
        return str(self.device.id)


def backend_of(backend: Union[Backend, str, None]) -> Backend:
    """Returns a backend itself, or opens the backend that a string names."""
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


async def discover_async() -> Discovery:
    """The same in a thread, while the event loop goes on."""
    return await loop_of(running()).call(discover)

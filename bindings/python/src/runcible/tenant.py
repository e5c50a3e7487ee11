"""Tenants, which share devices by weight, have limits, and get a bill."""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping, Optional, Union

from . import native as _native
from . import reports
from ._handle import Handle, set_options
from ._json import json_text

#: Prices, and snapshots of what tenants have used: JSON, or an object of it.
Json = Union[str, Mapping[str, Any]]


class Tenant(Handle):
    # :header: rc_tenant rc_tenant_create rc_tenant_options
    __slots__ = ()

    def __init__(
        self,
        *,
        # :api: keywords rc_tenant_options
    ) -> None:
        options = set_options(
            _native.tenant_options(),
            # :api: values rc_tenant_options
        )
        self._proxy = _native.tenant_create(options)

    def change(
        self,
        *,
        # :api: keywords rc_tenant_options
    ) -> None:
        # :header: rc_tenant_change rc_tenant_options
        options = set_options(
            _native.tenant_options(),
            # :api: values rc_tenant_options
        )
        _native.tenant_change(self._handle, options)

    def metrics(self) -> Dict[str, Any]:
        # :header: RC_METRICS_JSON
        return _read(
            _native.tenant_metrics(self._handle, _native.METRICS_JSON)
        )

    def open_metrics(self) -> str:
        # :header: RC_METRICS_OPENMETRICS
        text: str = _native.tenant_metrics(
            self._handle, _native.METRICS_OPENMETRICS
        )
        return text

    def bill(self, prices: Json, since: Optional[Json] = None) -> Dict[str, Any]:
        # :header: rc_tenant_bill
        before = None if since is None else json_text(since, "since")
        return _read(
            _native.tenant_bill(
                self._handle, json_text(prices, "prices"), before
            )
        )

    # :api: methods rc_tenant

    def _said(self) -> str:
        return repr(self.metrics()["tenants"][0]["name"])


def metrics() -> Dict[str, Any]:
    """A snapshot of all tenants of the process that still exist; see Tenant.metrics.

    Tenants with the same name are added up.
    """
    return _read(_native.all_tenant_metrics(_native.METRICS_JSON))


def open_metrics() -> str:
    """The same numbers in the text format of OpenMetrics."""
    text: str = _native.all_tenant_metrics(_native.METRICS_OPENMETRICS)
    return text


def _read(text: str) -> Dict[str, Any]:
    found: Dict[str, Any] = json.loads(text)
    return found

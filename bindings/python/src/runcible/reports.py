"""Reports of the library about devices, models and use."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Iterator, List, Type, TypeVar

from . import native as _native
from ._members import KINDS

_Report = TypeVar("_Report")


@dataclass(frozen=True)
class Discovery:
    """The devices and unavailable backends of this machine."""

    devices: List[DeviceReport]
    #: The choice of "auto", such as "cpu:0"; "" if there is no device.
    automatic: str

    def __iter__(self) -> Iterator[DeviceReport]:
        return iter(self.devices)

    def __len__(self) -> int:
        return len(self.devices)


# :api: dataclasses


def copied(made: Type[_Report], report: Any, **given: Any) -> _Report:
    """Returns a report of C as a dataclass with its members, and `given`."""
    values = dict(given)
    for field in fields(made):  # type: ignore[arg-type]
        if field.name in values:
            continue
        value = getattr(report, field.name)
        values[field.name] = bool(value) if field.type == "bool" else value
    if made is DeviceReport:
        values["kind"] = KINDS.get(report.kind, "other")
    return made(**values)


def plan_of(handle: Any) -> Plan:
    """Returns the report of a plan's handle, with its devices and offers."""
    report = _native.plan_report()
    _native.plan_describe(handle, report)
    devices = []
    for i in range(report.device_count):
        device = _native.plan_device_report()
        _native.plan_device(handle, i, device)
        devices.append(copied(DevicePlan, device))
    offers = []
    for i in range(report.offer_count):
        offer = _native.plan_offer_report()
        _native.plan_offer(handle, i, offer)
        offers.append(copied(PlanOffer, offer))
    return copied(Plan, report, devices=devices, offers=offers)

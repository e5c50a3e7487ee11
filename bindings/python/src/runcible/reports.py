"""What the library tells about devices, models and use."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Iterator, List, Type, TypeVar

from . import native as _native
from ._docs import documented

_Report = TypeVar("_Report")

_KINDS = {
    _native.DEVICE_OTHER: "other",
    _native.DEVICE_CPU: "cpu",
    _native.DEVICE_GPU_DISCRETE: "discrete GPU",
    _native.DEVICE_GPU_INTEGRATED: "integrated GPU",
    _native.DEVICE_ACCELERATOR: "accelerator",
    _native.DEVICE_SOFTWARE: "software",
}


@documented("rc_device_report")
@dataclass(frozen=True)
class DeviceReport:
    backend: str
    description: str
    index: int
    kind: str
    id: str
    name: str
    reason: str
    total_memory: int
    free_memory: int
    unified_memory: bool
    cores: int
    features: str
    driver: str
    physical_id: str


@dataclass(frozen=True)
class Discovery:
    """The devices and unavailable backends of this machine."""

    devices: List[DeviceReport]
    #: What "auto" would choose, "cpu:0"; "" if there is nothing to choose.
    automatic: str

    def __iter__(self) -> Iterator[DeviceReport]:
        return iter(self.devices)

    def __len__(self) -> int:
        return len(self.devices)


@documented("rc_backend_usage_report")
@dataclass(frozen=True)
class Usage:
    requests: int
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    compute_us: int
    memory: int
    peak_memory: int


@documented("rc_plan_device_report")
@dataclass(frozen=True)
class DevicePlan:
    device: str
    weights: int
    cache: int
    scratch: int
    total: int
    available: int
    first_layer: int
    layers: int
    embedding: bool
    output: bool


@documented("rc_plan_report")
@dataclass(frozen=True)
class Plan:
    weights: int
    cache: int
    scratch: int
    total: int
    available: int
    fits: bool
    context_length: int
    cache_tokens: int
    largest_context: int
    transfers: int
    #: The first is the opened one, even if nothing fits there.
    devices: List[DevicePlan]


@documented("rc_model_report")
@dataclass(frozen=True)
class ModelReport:
    architecture: str
    name: str
    device: str
    context_length: int
    trained_context_length: int
    vocabulary: int
    width: int
    layers: int
    parameters: int
    weight_bytes: int
    cache_bytes: int
    scratch_bytes: int
    cache_tokens: int
    page_size: int


@documented("rc_tokenizer_report")
@dataclass(frozen=True)
class TokenizerReport:
    kind: str
    vocabulary: int
    bos: int
    eos: int
    unknown: int


def copied(made: Type[_Report], report: Any, **given: Any) -> _Report:
    """A report of C as a dataclass: members of the same names, and `given`."""
    values = dict(given)
    for field in fields(made):  # type: ignore[arg-type]
        if field.name in values:
            continue
        value = getattr(report, field.name)
        values[field.name] = bool(value) if field.type == "bool" else value
    return made(**values)


def device_report(report: Any) -> DeviceReport:
    kind = _KINDS.get(report.kind, "other")
    return copied(DeviceReport, report, kind=kind)


def plan_of(handle: Any) -> Plan:
    """What the library's handle of a plan tells, the devices one by one."""
    report = _native.plan_report()
    _native.plan_describe(handle, report)
    devices = []
    for i in range(report.device_count):
        device = _native.plan_device_report()
        _native.plan_device(handle, i, device)
        devices.append(copied(DevicePlan, device))
    return copied(Plan, report, devices=devices)

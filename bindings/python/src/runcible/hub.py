"""Fetching models from a hub, and the cached models."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Union

from . import native as _native

Folder = Union[str, "os.PathLike[str]"]


def fetch(
    source: str, *, revision: str = "", cache: Folder = "", to: Folder = ""
) -> str:
    # :header: rc_model_fetch
    path: str = _native.model_fetch(
        source, revision, os.fsencode(cache), os.fsencode(to)
    )
    return path


def cached_models(cache: Folder = "") -> Dict[str, Any]:
    # :header: rc_cached_models
    models: Dict[str, Any] = json.loads(
        _native.cached_models(os.fsencode(cache))
    )
    return models


def remove_cached_model(source: str, cache: Folder = "") -> int:
    # :header: rc_cached_model_remove
    freed: int = _native.cached_model_remove(source, os.fsencode(cache))
    return freed

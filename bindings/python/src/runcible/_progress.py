"""Reporting the progress of a load."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Union


def _bar() -> Optional[Any]:
    try:
        from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return None
    return tqdm(total=100, unit="%", desc="loading", leave=False)


@contextmanager
def load_progress(
    progress: Union[Callable[[float], object], bool, None]
) -> Iterator[Optional[Callable[[float], object]]]:
    """Yields the function that receives the progress, if any, during a load."""
    if progress is None or progress is False:
        yield None
        return
    if progress is not True:
        if not callable(progress):
            raise TypeError(
                f"progress must be callable, not {type(progress).__name__}"
            )
        yield progress
        return
    bar = _bar()
    if bar is None:
        yield None
        return
    with bar:

        def show(fraction: float) -> None:
            bar.update(round(fraction * 100) - bar.n)

        yield show

# The module that SWIG makes from the C headers. The classes of the package add
# types to its results.
from typing import Any

def __getattr__(name: str) -> Any: ...

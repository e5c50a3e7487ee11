# The module that SWIG makes of the C headers. The classes of the package give
# types to what comes out of it.
from typing import Any

def __getattr__(name: str) -> Any: ...

"""Runcible: language models in your program, on your event loop.

    import runcible

    session = runcible.Model("builtin:fable").session()
    for piece in session.generate("Once upon a time", max_tokens=100):
        print(piece, end="", flush=True)

Any function may be called from any thread; long calls let other threads run.
Failures raise the exceptions of runcible.errors, all of them runcible.Error.
"""

from __future__ import annotations

from . import errors
from .native import version_string as _version_string
from .backend import Backend, discover, discover_async
from .chat import Answer, AnswerStream, Chat, Reasoning, Reply, ToolCall
from .custom import CustomOp, custom_op
from .errors import Error
from .generation import GenerateOptions, Generation, Piece
from .grammar import Grammar
from .graphs import Graph, graph
from .hub import cached_models, fetch, remove_cached_model
from .model import Model, estimate, plan, verify
from .ops import Call, register_backend, unregister_backend
from .reports import (
    Discovery,
    # :api: report_names
)
from .session import Session
from .streaming import Stream
from .tenant import Tenant, metrics, open_metrics
from .tensor import Tensor, from_dlpack, pinned
from .tokenizer import Tokenizer
from .tools import tool_of

__version__: str = _version_string()

__all__ = [
    "Answer",
    "AnswerStream",
    "Backend",
    "Call",
    "Chat",
    "CustomOp",
    "Discovery",
    "Error",
    "GenerateOptions",
    "Generation",
    "Grammar",
    "Graph",
    "Model",
    "Piece",
    "Reasoning",
    "Reply",
    "Session",
    "Stream",
    "Tenant",
    "Tensor",
    "Tokenizer",
    "ToolCall",
    "cached_models",
    "custom_op",
    "discover",
    "discover_async",
    "errors",
    "estimate",
    "fetch",
    "from_dlpack",
    "pinned",
    "graph",
    "metrics",
    "open_metrics",
    "plan",
    "register_backend",
    "remove_cached_model",
    "tool_of",
    "unregister_backend",
    "verify",
    # :api: report_strings
]

"""Sessions, the state of one conversation."""

from __future__ import annotations

import datetime
import functools
import os
from typing import (
    TYPE_CHECKING,
    Any,
    List,
    Mapping,
    Optional,
    Sequence,
    Union,
)

from . import chat as _chat
from . import native as _native
from ._handle import Handle, ModelHandle, Path, need, set_options
from ._logits import Logits
from ._loops import loop_of, running
from ._use import Uses
from .errors import Error
from .generation import (
    GenerateOptions,
    Generation,
    Prompt,
    make_options,
    tokenize_flags,
)
from .streaming import Stream
from .tensor import Tensor
from .tools import Tool

if TYPE_CHECKING:
    import numpy
    from typing_extensions import Unpack

    from .model import Model

class Session(Handle):
    # :header: session.h rc_session_create rc_session_options
    __slots__ = ("_model", "_logits", "_uses", "_position")

    #: The last known `position`.
    _position: int

    def __init__(
        self,
        model: Model,
        *,
        # :api: keywords rc_session_options
    ) -> None:
        options = set_options(
            _native.session_options(),
            # :api: values rc_session_options
        )
        self._proxy = _native.session_create(
            need(model, ModelHandle, "model"), options
        )
        self._model = model
        self._logits = Logits()
        self._uses = Uses()

    @classmethod
    def _of(cls, model: Model, proxy: Any) -> Session:
        made = cls.__new__(cls)
        made._proxy = proxy
        made._model = model
        made._logits = Logits()
        made._uses = Uses()
        return made

    @classmethod
    def restore(
        cls,
        model: Model,
        saved: Union[Path, bytes],
        *,
        # :api: keywords rc_session_options
    ) -> Session:
        # :header: rc_session_restore rc_session_options
        options = set_options(
            _native.session_options(),
            # :api: values rc_session_options
        )
        handle = need(model, ModelHandle, "model")
        if isinstance(saved, bytes):
            proxy = _native.session_restore_memory(handle, saved, options)
        else:
            proxy = _native.session_restore(handle, os.fsencode(saved), options)
        return cls._of(model, proxy)

    @property
    def _idle(self) -> Any:
        """The handle, for calls that need the session exclusively."""
        handle = self._handle
        self._uses.end_left()
        return handle

    @property
    def model(self) -> Model:
        return self._model

    def generate(
        self, prompt: Prompt = None, **options: Unpack[GenerateOptions]
    ) -> Generation:
        """Starts generating; the iterator returns the pieces.

        prompt: Text or tokens that are added to the session first; None: the text
        follows what the session contains.

        The options, by name; None leaves the default of the library:

        # :api: described rc_generate_options
        """
        handle = self._handle
        made = make_options(prompt, **options)
        self._uses.end_left()
        with self._logits.requesting():
            generation = Generation(handle, made)
        self._uses.add(generation.use)
        return generation

    def stream(
        self, prompt: Prompt = None, **options: Unpack[GenerateOptions]
    ) -> Stream:
        """The same on the running event loop, for ``async for``.

        The loop may be asyncio's, in any implementation, or trio's. The prompt and
        the options are those of generate:

        # :api: described rc_generate_options
        """
        handle = self._handle
        made = make_options(prompt, **options)
        self._uses.drop_left()
        with self._logits.requesting():
            stream = Stream(handle, made)
        self._uses.add(stream.use)
        return stream

    def chat(
        self,
        *,
        tools: Union[Sequence[Tool], str, None] = None,
        template_name: Optional[str] = None,
        template_text: Optional[str] = None,
        template_arguments: Union[Mapping[str, Any], str, None] = None,
        thinking: Optional[bool] = None,
        now: Union[str, datetime.datetime, None] = None,
    ) -> _chat.Chat:
        """Begins a conversation without messages over the session.

        tools: Functions that the model may call: Python functions with type hints,
        pydantic classes, or descriptions in the shape of "tools" of OpenAI's chat
        completions, also as JSON.

        template_name: The name of a chat template: of a variant in the file, or
        of a well-known template, for files without one ("chatml", "llama3",
        "zephyr", ...).

        template_text: The source of a chat template instead.

        template_arguments: More variables for the template.

        thinking: Whether to think before answering, for models that can do both.
        None: the template's default.

        now: The present date for templates that write it.

        InvalidArgumentError: an option is invalid; NotFoundError: there is no such
        template, or the file has none; UnsupportedError: the model has no tokenizer;
        FormatError: the template has an error.
        """
        return _chat.begin(
            self._idle,
            self._logits,
            self._uses,
            tools,
            template_name,
            template_text,
            template_arguments,
            thinking,
            now,
        )

    def append(
        self,
        what: Union[str, bytes, Sequence[int]],
        *,
        add_special: bool = True,
        parse_special: bool = False,
    ) -> None:
        """Adds text or tokens to the session.

        # :api: said rc_session_append

        # :api: said rc_session_append_text

        add_special: For text at the start of a session: whether the special tokens
        that the model requires there, such as BOS, are added.

        parse_special: For text: whether names of special tokens in it become these
        tokens.
        """
        if isinstance(what, (str, bytes)):
            flags = tokenize_flags(add_special, parse_special)
            _native.session_append_text(self._idle, what, flags)
        else:
            _native.session_append(self._idle, what)

    def append_embeddings(self, rows: Tensor) -> None:
        # :header: rc_session_append_embeddings
        need(rows, Tensor, "rows")
        _native.session_append_embeddings(self._idle, rows._numbers)

    def decode(self, *, all_logits: bool = False) -> None:
        """Evaluates what was added since the last decode.

        # :api: said rc_session_decode

        all_logits: Whether logits are kept for each of these tokens, and not only
        for the last one.
        """
        flags = _native.DECODE_ALL_LOGITS if all_logits else 0
        handle = self._idle
        with self._logits.decoding():
            _native.session_decode(handle, flags)

    async def adecode(self, *, all_logits: bool = False) -> None:
        """``decode`` in a thread while the event loop goes on, with the same
        `all_logits`.

        It cannot be cancelled: if the task is cancelled, the decode runs to its
        end, and the session is busy until then.
        """
        self._idle
        decode = functools.partial(self.decode, all_logits=all_logits)
        await loop_of(running()).call(decode)

    def logits(
        self, *, copy: bool = True
    ) -> numpy.ndarray[Any, numpy.dtype[numpy.float32]]:
        """The logits of the last decode, F32 [rows, vocabulary].

        One row, or one for each token evaluated with `all_logits`. The caller owns
        the array: it does not change when the session goes on. Without `copy` it
        exposes the session's memory, read-only; until it and all views of it are
        gone, the session refuses to decode and to generate (BufferError). It may
        outlive the session.
        NotFoundError: there was no decode since the last change.
        """
        return self._logits.array(self._idle, copy)

    @property
    def position(self) -> int:
        """The number of tokens that the session contains.

        It never raises: for a session that is closed, or whose device is lost, it
        is the last known number.
        """
        proxy = getattr(self, "_proxy", None)
        known: int = getattr(self, "_position", 0)
        if proxy is not None:
            try:
                known = _native.session_position(proxy)
            except Error:
                return known
            self._position = known
        return known

    def close(self) -> None:
        """Releases the handle; using it then raises ClosedError."""
        self.position
        super().close()

    # :api: methods rc_session

    def _said(self) -> str:
        return f"of {self.position} tokens"

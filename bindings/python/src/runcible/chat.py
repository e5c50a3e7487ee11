"""Conversations with models, by their chat templates."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from . import native as _native
from ._handle import Handle
from ._json import json_text, messages_text, result_text
from ._logits import Logits
from ._use import Uses
from .errors import NotFoundError
from .generation import GenerateOptions, Piece, Reading, make_options, piece_of
from .reports import Report
from .streaming import AsyncReading
from .tools import Tool, described

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: A message in the shape of "messages" of OpenAI's chat completions.
Message = Mapping[str, Any]
#: A text is a message of the user.
Messages = Union[str, Message, Sequence[Message]]


class Reasoning(Piece):
    """Text that the model thinks before it answers."""

    __slots__ = ()


@dataclass(frozen=True)
class ToolCall:
    """A complete call of a tool."""

    #: The id that its result states as "tool_call_id".
    id: str
    name: str
    arguments: Dict[str, Any]


#: A part of an answer: a Piece is text.
Part = Union[Piece, Reasoning, ToolCall]


@dataclass
class Reply:
    """A complete answer."""

    text: str = ""
    #: The model's thoughts.
    reasoning: str = ""
    tool_calls: List[ToolCall] = field(default_factory=list)
    #: `report.reason` is "tool calls" if the model called tools.
    report: Optional[Report] = None

    def _add(self, part: Part) -> None:
        if isinstance(part, ToolCall):
            self.tool_calls.append(part)
        elif isinstance(part, Reasoning):
            self.reasoning += part
        else:
            self.text += part


def _part_of(event: Tuple[Any, ...]) -> Part:
    """Returns the part of an answer that an event of the library represents."""
    what, name, id = event[4:]
    if what == "call":
        return ToolCall(id, name, json.loads(event[1]))
    piece = piece_of(event)
    if what == "text":
        return piece
    reasoning = Reasoning(piece)
    reasoning.tokens = piece.tokens
    reasoning.logprobs = piece.logprobs
    reasoning.top_logprobs = piece.top_logprobs
    return reasoning


class Answer(Reading[Part]):
    """The parts of an answer as they arrive; iterating blocks.

    It ends, and is left, like a Generation. The answer so far is then a message of
    the conversation.
    """

    def __init__(self, chat: Any, options: Any) -> None:
        super().__init__(_native.answer_start(chat, options), _part_of)

    def reply(self) -> Reply:
        """Reads the rest of the answer."""
        made = Reply()
        for part in self:
            made._add(part)
        made.report = self.report
        return made


class AnswerStream(AsyncReading[Part]):
    """The parts of an answer as they arrive, on the running event loop.

    It ends, and is left, like a Stream. The answer so far is then a message of the
    conversation.
    """

    def __init__(self, chat: Any, options: Any) -> None:
        def begin(box: Any, key: int) -> Any:
            return _native.mailbox_answer(box, chat, options, key)

        super().__init__(begin, _part_of)

    async def reply(self) -> Reply:
        """Reads the rest of the answer."""
        made = Reply()
        async for part in self:
            made._add(part)
        made.report = self.report
        return made


class Chat(Handle):
    """A conversation: a list of messages over a session; see Session.chat.

    An answer of the model becomes one of the messages. Each answer evaluates only
    what the session does not contain yet, also after messages were removed. To keep
    a conversation, keep its session (Session.save) and its messages.
    """

    __slots__ = ("_functions", "_logits", "_uses")

    #: The functions among the tools, by their names.
    _functions: Dict[str, Callable[..., Any]]
    _logits: Logits
    _uses: Uses

    def __init__(self) -> None:
        raise TypeError("a Chat is made by Session.chat")

    @classmethod
    def _of(
        cls, proxy: Any, functions: Dict[str, Any], logits: Logits, uses: Uses
    ) -> Chat:
        made = cls.__new__(cls)
        made._proxy = proxy
        made._functions = functions
        made._logits = logits
        made._uses = uses
        return made

    @property
    def _idle(self) -> Any:
        """The handle, for calls that an answer in flight does not allow."""
        handle = self._handle
        self._uses.end_left()
        return handle

    def add(self, messages: Messages) -> None:
        """Adds a message, or several.

        They have the shape of "messages" of OpenAI's chat completions; a text is a
        message of the user. InvalidArgumentError, UnsupportedError: a message is
        malformed; the error states its position, and nothing was added. BusyError:
        an answer is in flight.
        """
        if isinstance(messages, str):
            messages = {"role": "user", "content": messages}
        _native.chat_add(self._idle, messages_text(messages))

    def undo(self, count: int = 1) -> None:
        # :header: rc_chat_undo
        _native.chat_undo(self._idle, count)

    def messages(self) -> List[Dict[str, Any]]:
        """All messages. BusyError: an answer is in flight."""
        made: List[Dict[str, Any]] = json.loads(
            _native.chat_messages(self._idle)
        )
        return made

    def fork(self) -> Chat:
        # :header: rc_chat_fork
        proxy = _native.chat_fork(self._idle)
        return Chat._of(proxy, self._functions, Logits(), Uses())

    def answer(self, **options: Unpack[GenerateOptions]) -> Answer:
        """Lets the model answer; the iterator returns the parts.

        The options are those of Session.generate:

        # :api: described rc_generate_options
        """
        handle = self._handle
        made = make_options(None, **options)
        self._uses.end_left()
        with self._logits.requesting():
            answer = Answer(handle, made)
        self._uses.add(answer.use)
        return answer

    def stream(self, **options: Unpack[GenerateOptions]) -> AnswerStream:
        """The same on the running event loop, for ``async for``.

        Unlike a generation it does not wait for one in flight: that is a
        BusyError. The options are those of Session.generate:

        # :api: described rc_generate_options
        """
        handle = self._handle
        made = make_options(None, **options)
        self._uses.end_left()
        with self._logits.requesting():
            stream = AnswerStream(handle, made)
        self._uses.add(stream.use)
        return stream

    def ask(
        self,
        messages: Optional[Messages] = None,
        **options: Unpack[GenerateOptions],
    ) -> Reply:
        """Adds messages, if any, and returns the complete answer.

        The options are those of Session.generate:

        # :api: described rc_generate_options
        """
        if messages is not None:
            self.add(messages)
        return self.answer(**options).reply()

    async def aask(
        self,
        messages: Optional[Messages] = None,
        **options: Unpack[GenerateOptions],
    ) -> Reply:
        """``ask`` on the running event loop.

        The options are those of Session.generate:

        # :api: described rc_generate_options
        """
        if messages is not None:
            self.add(messages)
        return await self.stream(**options).reply()

    def call(self, call: ToolCall) -> Any:
        """Runs the function that a call names, and adds its result.

        It is one of the functions in `tools`; NotFoundError: none has that name.
        The result becomes JSON unless it is a str. The caller has to report an
        exception of the function to the model.
        """
        if call.name not in self._functions:
            raise NotFoundError(f"no function {call.name!r} among the tools")
        result = self._functions[call.name](**call.arguments)
        text = result_text(result, call.name)
        self.add({"role": "tool", "tool_call_id": call.id, "content": text})
        return result


def begin(
    session: Any,
    logits: Logits,
    uses: Uses,
    tools: Union[Sequence[Tool], str, None],
    template_name: Optional[str],
    template_text: Optional[str],
    template_arguments: Union[Mapping[str, Any], str, None],
    thinking: Optional[bool],
    now: Union[str, datetime.datetime, None],
) -> Chat:
    """Begins a conversation over the handle of a session; see Session.chat."""
    functions = {}
    options = _native.chat_options()
    if tools is not None:
        if not isinstance(tools, str):
            functions = {
                each.__name__: each for each in tools if callable(each)
            }
            tools = json_text(described(tools), "tools")
        options.set_tools(tools)
    options.set_template_name(template_name)
    options.set_template_text(template_text)
    if template_arguments is not None:
        options.set_template_arguments(
            json_text(template_arguments, "template_arguments")
        )
    if thinking is not None:
        options.thinking = int(thinking)
    if isinstance(now, datetime.datetime):
        now = now.replace(tzinfo=None).isoformat(timespec="seconds")
    options.set_now(now)
    return Chat._of(
        _native.chat_create(session, options), functions, logits, uses
    )

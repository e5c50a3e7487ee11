"""Grammars, which define the permitted texts."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Type, TypeVar, Union

from . import native as _native
from ._handle import Handle, ModelHandle, TokenizerHandle, set_options
from ._json import Schema, json_text, schema_of

_Self = TypeVar("_Self", bound="Grammar")


class Grammar(Handle):
    # :header: rc_grammar rc_grammar_create
    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError("a Grammar is made by Grammar.json_schema, .regex, ...")

    @classmethod
    def json_schema(
        cls: Type[_Self],
        tokenizer: Union[TokenizerHandle, ModelHandle],
        schema: Schema,
        *,
        # :api: keywords rc_grammar_options
    ) -> _Self:
        # :header: RC_GRAMMAR_JSON_SCHEMA rc_grammar_options
        options = set_options(
            _native.grammar_options(),
            # :api: values rc_grammar_options
        )
        made = None if isinstance(schema, str) else schema_of(schema)
        text = json_text(schema if made is None else made, "schema")
        return cls._made(
            tokenizer, _native.GRAMMAR_JSON_SCHEMA, text, options
        )

    @classmethod
    def regex(
        cls: Type[_Self],
        tokenizer: Union[TokenizerHandle, ModelHandle],
        expression: str,
    ) -> _Self:
        # :header: RC_GRAMMAR_REGEX
        return cls._made(tokenizer, _native.GRAMMAR_REGEX, expression)

    @classmethod
    def choices(
        cls: Type[_Self],
        tokenizer: Union[TokenizerHandle, ModelHandle],
        choices: Sequence[str],
    ) -> _Self:
        """A list of texts; the text is one of them."""
        if isinstance(choices, (str, bytes)):
            raise TypeError("choices must be a sequence of str, not one text")
        texts = _native.text_list()
        for choice in choices:
            if not isinstance(choice, str):
                raise TypeError(
                    f"choices must be str, not {type(choice).__name__}"
                )
            texts.add(choice)
        return cls._of(_native.grammar_of_choices(_handle_of(tokenizer), texts))

    @classmethod
    def gbnf(
        cls: Type[_Self],
        tokenizer: Union[TokenizerHandle, ModelHandle],
        rules: str,
    ) -> _Self:
        # :header: RC_GRAMMAR_GBNF
        return cls._made(tokenizer, _native.GRAMMAR_GBNF, rules)

    @classmethod
    def lark(
        cls: Type[_Self],
        tokenizer: Union[TokenizerHandle, ModelHandle],
        rules: str,
    ) -> _Self:
        # :header: RC_GRAMMAR_LARK
        return cls._made(tokenizer, _native.GRAMMAR_LARK, rules)

    @classmethod
    def _made(
        cls: Type[_Self],
        tokenizer: Union[TokenizerHandle, ModelHandle],
        kind: int,
        text: str,
        options: Optional[Any] = None,
    ) -> _Self:
        return cls._of(
            _native.grammar_create(_handle_of(tokenizer), kind, text, options)
        )

    @classmethod
    def _of(cls: Type[_Self], proxy: Any) -> _Self:
        made = cls.__new__(cls)
        made._proxy = proxy
        return made


def _handle_of(tokenizer: Union[TokenizerHandle, ModelHandle]) -> Any:
    """Returns the library's tokenizer of a tokenizer or a model."""
    if isinstance(tokenizer, TokenizerHandle):
        return tokenizer._handle
    if isinstance(tokenizer, ModelHandle):
        return _native.model_get_tokenizer(tokenizer._handle)
    raise TypeError(
        f"tokenizer must be a Tokenizer or a Model, "
        f"not {type(tokenizer).__name__}"
    )

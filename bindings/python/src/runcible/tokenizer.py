"""Text to tokens and back."""

from __future__ import annotations

import os
from typing import Any, List, Sequence, Union

from . import native as _native
from . import reports
from ._handle import TokenizerHandle
from .generation import tokenize_flags


class Tokenizer(TokenizerHandle):
    # :header: rc_tokenizer rc_tokenizer_open
    __slots__ = ()

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self._proxy = _native.tokenizer_open(os.fsencode(path))

    @classmethod
    def _of(cls, proxy: Any) -> Tokenizer:
        made = cls.__new__(cls)
        made._proxy = proxy
        return made

    def tokenize(
        self,
        text: Union[str, bytes],
        *,
        add_special: bool = True,
        parse_special: bool = False,
    ) -> List[int]:
        """Turns text into tokens.

        # :api: said rc_tokenize

        add_special: Whether the special tokens that the model requires around a
        text, such as BOS, are added.

        parse_special: Whether names of special tokens in the text become these
        these tokens.
        """
        flags = tokenize_flags(add_special, parse_special)
        tokens: List[int] = _native.tokenize(self._handle, text, flags)
        return tokens

    def detokenize(
        self, tokens: Sequence[int], *, special: bool = False
    ) -> str:
        # :header: rc_detokenize
        return self.detokenize_bytes(tokens, special=special).decode(
            "utf-8", "replace"
        )

    def detokenize_bytes(
        self, tokens: Sequence[int], *, special: bool = False
    ) -> bytes:
        # :header: rc_detokenize
        text: bytes = _native.detokenize(self._handle, tokens, special)
        return text

    # :api: methods rc_tokenizer

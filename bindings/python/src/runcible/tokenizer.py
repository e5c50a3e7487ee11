"""Text to tokens and back."""

from __future__ import annotations

import os
from typing import Any, List, Sequence, Union

from . import native as _native
from ._docs import documented
from ._handle import Handle
from .generation import tokenize_flags
from .reports import TokenizerReport, copied


@documented("rc_tokenizer", "rc_tokenizer_open")
class Tokenizer(Handle):
    __slots__ = ()

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self._proxy = _native.tokenizer_open(os.fsencode(path))

    @classmethod
    def _of(cls, proxy: Any) -> Tokenizer:
        made = cls.__new__(cls)
        made._proxy = proxy
        return made

    @documented("rc_tokenize")
    def tokenize(
        self,
        text: Union[str, bytes],
        *,
        add_special: bool = True,
        parse_special: bool = False,
    ) -> List[int]:
        flags = tokenize_flags(add_special, parse_special)
        tokens: List[int] = _native.tokenize(self._handle, text, flags)
        return tokens

    @documented("rc_detokenize")
    def detokenize(
        self, tokens: Sequence[int], *, special: bool = False
    ) -> str:
        return self.detokenize_bytes(tokens, special=special).decode(
            "utf-8", "replace"
        )

    @documented("rc_detokenize")
    def detokenize_bytes(
        self, tokens: Sequence[int], *, special: bool = False
    ) -> bytes:
        text: bytes = _native.detokenize(self._handle, tokens, special)
        return text

    @property
    @documented("rc_tokenizer_report")
    def report(self) -> TokenizerReport:
        report = _native.tokenizer_report()
        proxy = self._handle
        _native.tokenizer_describe(proxy, report)
        return copied(TokenizerReport, report)

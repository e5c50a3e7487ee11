"""The comments of the public C headers, by the names that they describe.

They are the docstrings of every language, so that there is no second text. A comment
belongs to the declarations after it up to the next blank line, and one after a
declaration to that declaration. Members are "rc_backend_options.threads", an
enumeration is named by its first constant, "enum RC_FULL_ERROR", and a header's
first comment is that of "session.h".
"""

import re
import sys
from pathlib import Path

_TOKEN = re.compile(
    r"/\*(?P<comment>.*?)\*/"
    r"|^(?P<directive>\#(?:[^\n\\]|\\\n|\\.)*)"
    r"|(?P<blank>\n[ \t]*(?=\n))"
    r"|(?P<mark>[;,{}])"
    r"|(?P<code>(?:[^;,{}/#\n]|/(?!\*)|\n(?![ \t]*\n))+)",
    re.DOTALL | re.MULTILINE,
)


def _text_of(comment):
    lines = [line.strip() for line in comment.strip().splitlines()]
    return "\n".join(line[1:].strip() if line.startswith("*") else line
                     for line in lines).strip()


def _name_of(code):
    """Returns the name that a declaration declares, or ""."""
    code = re.sub(r"=[^(]*$", "", code).strip()
    function = re.search(r"(\w+)\s*\(", code.replace("(*", "", 1))
    if function and not re.match(r"typedef\b[^(]*\(\*", code):
        return function.group(1)
    pointer = re.search(r"\(\*(\w+)\)", code)
    if pointer:
        return pointer.group(1)
    names = re.findall(r"\w+", re.sub(r"\[[^]]*\]", "", code))
    return names[-1] if names else ""


class _Reader:
    def __init__(self, text):
        self.comments = {}
        self.text = text
        self.pending = ""  # the comment before the next declaration
        self.last = ""  # the name that was declared last
        self.code = ""
        self.body = None  # the tag of the struct or "enum" that is open
        self.depth = 0  # of parentheses and initialisers
        self.of_enum = ""  # the comment of an enumeration, whose name is not known yet
        for match in _TOKEN.finditer(text):
            getattr(self, "_" + match.lastgroup)(match)

    def _comment(self, match):
        start = self.text.rfind("\n", 0, match.start()) + 1
        comment = _text_of(match.group("comment"))
        before = self.text[start:match.start()].strip()
        if before == "}":  # the end of extern "C"
            return
        if before:  # after a declaration
            name = _name_of(self.code) if self.code.strip() else ""
            self._describe(self._full(name) if name else self.last, comment)
        else:
            self.pending = comment

    def _directive(self, match):
        self.code = ""

    def _blank(self, match):
        if self.body is None:
            self.pending = ""

    def _code(self, match):
        self.code += match.group("code")

    def _mark(self, match):
        mark = match.group("mark")
        inside = self.code.count("(") > self.code.count(")")
        if inside:
            self.code += mark
        elif mark == "{":
            tag = re.search(r"\b(struct|enum)\b\s*(\w*)\s*$", self.code)
            if self.body is not None:
                self.depth += 1
            elif tag:  # and not extern "C"
                self.body = tag.group(2) or "enum"
                if self.body != "enum":
                    self._describe(self.body, self.pending)
                else:
                    self.of_enum = self.pending
                self.pending = ""
            self.code = ""
        elif mark == "}":
            if self.depth > 0:
                self.depth -= 1
            elif self.body is not None:
                self._declared()
                self.body = None
            self.code = ""
        elif mark == ";" or self.body == "enum":
            self._declared()
        else:
            self.code += mark  # a list of names

    def _full(self, name):
        inside = self.body not in (None, "enum")
        return f"{self.body}.{name}" if inside else name

    def _declared(self):
        name = _name_of(self.code)
        if name:
            self.last = self._full(name)
            if self.body == "enum" and self.of_enum:
                self._describe(f"enum {name}", self.of_enum)
                self.of_enum = ""
            if self.pending:
                self._describe(self.last, self.pending)
            if self.body is not None:
                self.pending = ""
        self.code = ""

    def _describe(self, name, comment):
        if name and comment:
            before = self.comments.get(name)
            if before != comment:
                self.comments[name] = (
                    f"{before}\n{comment}" if before else comment
                )


def _without_program(comment):
    """Removes the C program, which is indented, from a header's first comment."""
    return re.sub(r"\n \*(?:\n \* {5}[^\n]*)+", "", comment)


def read_comments(folder):
    """Returns all comments of the headers in a folder."""
    comments = {}
    for header in sorted(Path(folder).glob("*.h")):
        text = header.read_text(encoding="utf-8")
        comments.update(_Reader(text).comments)
        first = re.match(r"/\*(.*?)\*/", text, re.DOTALL)
        if first:
            comments[header.name] = _text_of(_without_program(first.group(1)))
    return comments


# Phrases that concern only C, and their replacements.
_OF_C = [
    (r"References; see base\.h\.", ""),
    (r"The same as a function; see base\.h\.", ""),
    (r"\*\w+ is the caller's(; see \w+)?\.", ""),
    (r"; \*\w+ is to be freed with rc_free\.", "."),
    (r"; see rc_(abi_check|\w+_release|\w+_describe)", ""),
    (r": exactly what rc_tensor_size says\.", "."),
    (r"RC_OK if it is sound; statuses of", "Errors of"),
    (r"\bstatuses of", "errors of"),
    (r"\bStatuses of", "Errors of"),
    (r"`shape` has `rank` dimensions\.", ""),
    (r"`bytes` bytes at `data`, ", ""),
    (r"\*\w+ (\[\*count\] )?is to be freed with rc_free(; it is NULL if "
     r"\*count is 0)?\.", ""),
    (r"\*\w+ has \*\w+ bytes and a terminating zero[;,] free it with rc_free\.",
     ""),
    (r"\*\w+ is NUL-terminated and the caller's, to be freed with rc_free\.",
     ""),
    (r"\*\w+ is NUL-terminated and lives as long as the handle; it changes",
     "It changes"),
    (r", to be freed with rc_free; NULL if \*count is 0", ""),
    (r"The strings live as long as the list\.", ""),
    (r"The strings live as long as the handle, ", ""),
    (r"Strings are UTF-8, NUL-terminated, never NULL, and owned by the handle that "
     r"gave the report\.", ""),
    (r"The text is the tensor's\.", ""),
    (r"`options` may be NULL\.", ""),
    (r", NUL-terminated(?=, such as)", ""),
    (r"\*json is an object", "The result is an object"),
    (r"; owned by the \w+(, as all strings here)?$", ""),
    (r"\*\w+ is the session's, valid until its next decode, request or end\.",
     ""),
]


def without_c(text):
    """Removes the phrases that concern only C from a comment."""
    for pattern, instead in _OF_C:
        text = re.sub(pattern.replace(" ", r"\s+"), instead, text)
    text = re.sub(r"[ \t]+(?=\n|$)", "", text)
    return re.sub(r"(?<=\S) {2,}", " ", text).strip()


if __name__ == "__main__":
    for described, words in sorted(read_comments(sys.argv[1]).items()):
        print(f"{described}\n    " + words.replace("\n", "\n    "))

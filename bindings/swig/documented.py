#!/usr/bin/env python3
"""Copies the source of a package, with the comments of the C headers in place of
marks, so that there is no second text.

    documented.py --ruby|--perl HEADER_FOLDER FROM_FOLDER TO_FOLDER

A mark is a line "# :header: NAME" in Ruby and a paragraph "=for header NAME" in
the documentation of Perl.
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "api"))

from comments import read_comments, without_c  # noqa: E402


class _Ruby:
    suffix = ".rb"
    mark = re.compile(r"^(?P<indent> *)# :header: (?P<name>\S+)\n", re.MULTILINE)
    error = re.compile(r":header: (RC_E_\w+)\n +class (\w+)")
    nothing = "nil"

    @staticmethod
    def text(text):
        return text

    @staticmethod
    def members(members):
        return "\n\n".join(f"{name}:: {text}" for name, text in members)

    @staticmethod
    def lines(mark, text):
        return "".join(f"{mark['indent']}# {line}".rstrip() + "\n"
                       for line in text.splitlines())


class _Perl:
    suffix = ".pm"
    mark = re.compile(r"^=for header (?P<name>\S+)\n", re.MULTILINE)
    error = re.compile(
        r"=head2 (\S+)\n(?:(?!=head)[\s\S])*?=for header (RC_E_\w+)")
    nothing = "undef"

    @staticmethod
    def text(text):
        # Lines that begin with a space would be code.
        text = re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE)
        return re.sub(r"[<>]", lambda found: "E<lt>" if found.group() == "<"
                      else "E<gt>", text)

    @staticmethod
    def members(members):
        items = "\n\n".join(f"=item {name}\n\n{text}" for name, text in members)
        return f"=over\n\n{items}\n\n=back"

    @staticmethod
    def lines(mark, text):
        return text + "\n"


def _error_names(language, source):
    """The names of the exceptions, by those of the statuses."""
    names = {}
    for found in language.error.finditer(source):
        status, name = found.group(1), found.group(2)
        if not status.startswith("RC_E_"):
            status, name = name, status
        names[status] = name
    return names


def _translated(text, language, errors):
    text = re.sub(r"\bRC_E_\w+\b",
                  lambda found: errors.get(found.group(), found.group()),
                  without_c(text))
    return language.text(re.sub(r"\bNULL\b", language.nothing, text))


def _comment_of(name, comments, language, errors):
    """The text of a comment; of a struct, with a list of its members."""
    known = []
    if name in comments:
        known.append(_translated(comments[name], language, errors))
    members = [(member[len(name) + 1:],
                " ".join(_translated(text, language, errors).split()))
               for member, text in comments.items()
               if member.startswith(name + ".") and not name.endswith(".h")]
    if members:
        known.append(language.members(members))
    if not known:
        sys.exit(f"no header has a comment of {name}")
    return "\n\n".join(known)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    languages = parser.add_mutually_exclusive_group(required=True)
    for language in (_Ruby, _Perl):
        languages.add_argument("--" + language.__name__[1:].lower(),
                               dest="language", action="store_const", const=language)
    parser.add_argument("headers", type=Path)
    parser.add_argument("source", type=Path)
    parser.add_argument("destination", type=Path)
    arguments = parser.parse_args()
    language = arguments.language

    comments = read_comments(arguments.headers)
    files = {path: path.read_text(encoding="utf-8")
             for path in arguments.source.rglob("*" + language.suffix)}
    errors = _error_names(language, "".join(files.values()))

    def written(mark):
        return language.lines(
            mark, _comment_of(mark["name"], comments, language, errors))

    for path, text in files.items():
        made = arguments.destination / path.relative_to(arguments.source)
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(language.mark.sub(written, text), encoding="utf-8")


if __name__ == "__main__":
    main()

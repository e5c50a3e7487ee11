#!/usr/bin/env python3
"""Checks that the relative links of all pages lead to files, and to headings of pages.

    tests/structure/links.py
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pages():
    """The pages of the repository, without what was built or fetched."""
    skipped = {"build", "node_modules", ".git"}
    return [path for path in ROOT.rglob("*.md")
            if not skipped & set(path.relative_to(ROOT).parts)]


def text_of(path):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.S | re.M)


def anchors(path):
    """The headings of a page as GitHub names them."""
    headings = re.findall(r"^#+ +(.+)$", text_of(path), re.M)
    headings = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each) for each in headings]
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def main():
    wrong = []
    count = 0
    for page in sorted(pages()):
        for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            name, _, anchor = target.partition("#")
            to = (page.parent / name).resolve() if name else page
            if not to.exists():
                wrong.append(f"{page.relative_to(ROOT)}: {target}: no such file")
            elif anchor and to.suffix == ".md" and anchor not in anchors(to):
                wrong.append(f"{page.relative_to(ROOT)}: {target}: no such heading")
    print(f"{count} links")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()

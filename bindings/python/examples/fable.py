"""Prints a fable as it is generated:

    python fable.py [BEGINNING]
"""

import sys

import runcible

beginning = " ".join(sys.argv[1:]) or "Once upon a time"
session = runcible.Model("builtin:fable").session()
for piece in session.generate(beginning, echo=True, max_tokens=200):
    print(piece, end="", flush=True)
print()

"""The texts of packages have the names of their languages, not those of C."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from test_additions import ROOT, SOURCES, package  # noqa: E402

# Names of the C library that a package may contain.
ABOUT_C = {
    # Used in files that read memory of C.
    "csharp": {"rc_custom_function"},  # the type of a C function
    "go": {"rc_free", "RC_EVENT_END", "RC_EVENT_PIECE", "RC_EVENT_REASONING",
           "RC_EVENT_CALL", "rc_custom_call", "rc_custom_function", "rc_op_value",
           "RC_OP_BACKEND_MESSAGE_BYTES"},
    "java": {"rc_custom_function"},
    "python": {"rc_custom_function"},
    "node": {"RC_E_"},  # taken from the names of statuses
    "tcl": {"RC_E_"},
}


class Names(unittest.TestCase):
    def test_no_names_of_c_are_left(self):
        for language in SOURCES:
            with self.subTest(language):
                text = package(language, ROOT / "include/runcible")
                found = set(re.findall(r"\b(?:rc|RC)_\w*", text))
                self.assertEqual(found, ABOUT_C.get(language, set()))


if __name__ == "__main__":
    unittest.main()

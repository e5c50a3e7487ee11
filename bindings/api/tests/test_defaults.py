"""The defaults in comments of the headers equal those of the settings."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bindings" / "api"))

from headers import read_api  # noqa: E402

API = read_api(ROOT / "include" / "runcible")
KEYS = (ROOT / "src" / "base" / "config" / "keys.cc").read_text(encoding="utf-8")
# The table and the member of each setting, and its initial value as it stands there.
SETTINGS = re.findall(r'"(backend|model|session|generate)\.(\w+)",\s*"RUNCIBLE_\w+",'
                      r'\s*("[^"]*"|nullptr)', KEYS)
# Phrases of comments whose default is not a number or a choice.
TEXTS = {"seed": "Default: a random one.", "dry_breakers": "Default: line breaks and",
         "quantize": "as the file has them, which is the default."}


def value_of(field):
    """Returns the default as it is written in a configuration file."""
    enum = API.enum(field.ctype)
    if field.default.startswith("RC_"):
        prefix = re.match(r"RC_[A-Z]+_", field.default).group()
        enum = enum or API.enum_of_prefix(prefix)
        return next(enum.rest(each).lower() for each in enum.constants
                    if each.name == field.default)
    return field.default


class Defaults(unittest.TestCase):
    def test_each_setting_has_its_default_in_the_comment(self):
        self.assertGreater(len(SETTINGS), 45)
        for table, name, initial in SETTINGS:
            if name == "spec":
                continue
            with self.subTest(f"{table}.{name}"):
                field = API.structs[f"rc_{table}_options"].field(name)
                if name in TEXTS:
                    self.assertIn(TEXTS[name], " ".join(field.doc.split()))
                    continue
                words = {"true": "1", "false": "0"}.get(initial[1:-1], initial[1:-1])
                if re.match(r"-?\d", words):
                    self.assertEqual(float(value_of(field)), float(words))
                else:
                    self.assertEqual(value_of(field), words)

    def test_only_settings_are_unset(self):
        """A member that is initially unset has a setting, because nothing else would
        give it a value. Tenants keep what is unset as it was."""
        settings = {f"rc_{table}_options.{name}" for table, name, _ in SETTINGS}
        for path in sorted((ROOT / "include" / "runcible").glob("*.h")):
            text = path.read_text(encoding="utf-8").replace("\\\n", " ")
            for macro, body in re.findall(r"#define (RC_\w+)_INIT\s+(.*)", text):
                if macro == "RC_TENANT_OPTIONS":
                    continue
                for name in re.findall(r"RC_INITIAL\((\w+), RC_UNSET_", body):
                    self.assertIn(f"{macro.lower()}.{name}", settings)


if __name__ == "__main__":
    unittest.main()

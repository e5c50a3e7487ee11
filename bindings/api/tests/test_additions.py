"""Additions to the headers appear in all packages without hand-written code."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bindings" / "api"))

import generate  # noqa: E402

SOURCES = {"csharp": "src", "go": "src", "java": "src", "lua": "src", "node": "src",
           "perl": "lib", "python": "src", "ruby": "lib", "tcl": "library"}

OPTION = """
  int64_t pause_ms; /* how long a test waits, milliseconds; 0: not at all */
} rc_generate_options;
"""
REPORT = """
/* The mood of a model. */
typedef struct rc_model_mood_report {
  size_t struct_size;
  const char* mood; /* "calm" */
  int32_t happy;    /* 1: it is */
  int64_t calm_us;  /* for so long, microseconds */
} rc_model_mood_report;
/* RC_E_INVALID_ARGUMENT: `model` or `report`. */
RC_API rc_status rc_model_mood(rc_model* model, rc_model_mood_report* report);

#ifdef __cplusplus
} /* extern "C" */
"""
FUNCTION = """
/* Goes back. RC_E_BUSY. */
RC_API rc_status rc_session_rewind(rc_session* session, int64_t position);

#ifdef __cplusplus
} /* extern "C" */
"""


def package(language, headers):
    """Returns the sources of a package, for the headers in a folder."""
    with tempfile.TemporaryDirectory() as output:
        generate.main(language, headers,
                      ROOT / "bindings" / language / SOURCES[language], output)
        return "".join(path.read_text(encoding="utf-8")
                       for path in sorted(Path(output).rglob("*.*")))


class Additions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.headers = Path(folder.name, "runcible")
        shutil.copytree(ROOT / "include" / "runcible", cls.headers)

    def change(self, name, old, new):
        path = self.headers / name
        text = path.read_text(encoding="utf-8")
        self.assertEqual(text.count(old), 1)
        path.write_text(text.replace(old, new), encoding="utf-8")
        self.addCleanup(path.write_text, text, encoding="utf-8")

    def expect(self, texts):
        for language, text in texts.items():
            with self.subTest(language):
                self.assertNotIn(text, package(language, ROOT / "include/runcible"))
                self.assertIn(text, package(language, self.headers))

    def test_an_option_of_generating(self):
        self.change("generate.h", "\n} rc_generate_options;\n", OPTION)
        self.expect({
            "csharp": "TimeSpan? Pause { get; set; }",
            "go": "func Pause(value time.Duration) GenerateOption {",
            "java": "public GenerateOptions pause(Duration value) {",
            "node": "pause?: number | undefined;",
            "perl": "pause => 'pause_ms'",
            "python": "pause: Optional[float] = None,",
            "ruby": "pause: :pause_ms",
            "tcl": "pause pause_ms",
            "lua": " pause.",  # in a comment, because Lua uses SWIG's names
        })

    def test_a_function_that_fills_a_report(self):
        self.change("model.h", '\n#ifdef __cplusplus\n} /* extern "C" */\n', REPORT)
        self.expect({
            "csharp": "public ModelMoodReport Mood {",
            "go": "func (m *Model) Mood() (*ModelMoodReport, error) {",
            "java": "public ModelMoodReport mood() {",
            "node": "get mood(): reports.ModelMoodReport {",
            "perl": "sub mood {",
            "python": "def mood(self) -> reports.ModelMoodReport:",
            "ruby": "def mood",
            "lua": "Model.mood = handle.report_method(Model",
            "tcl": "method mood {} {",
        })

    def test_a_plain_function(self):
        self.change("session.h", '\n#ifdef __cplusplus\n} /* extern "C" */\n', FUNCTION)
        self.expect({
            "csharp": "public void Rewind(long position) {",
            "go": "func (s *Session) Rewind(position int64) error {",
            "java": "public void rewind(long position) {",
            "lua": "function Session:rewind(position)",
            "node": "rewind(position: number): Promise<void> {",
            "perl": "sub rewind {",
            "python": "def rewind(self, position: int) -> None:",
            "ruby": "def rewind(position)",
            "tcl": "method rewind {position} {",
        })


if __name__ == "__main__":
    unittest.main()

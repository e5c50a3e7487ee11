"""The modules of Python, Node and pages import each other without cycles."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import imports  # noqa: E402
from imports import OF, circles  # noqa: E402
from test_additions import ROOT, SOURCES, generate  # noqa: E402


def modules(language):
    """Returns the sources of a package, by the names of its modules."""
    with tempfile.TemporaryDirectory() as output:
        generate.main(language, ROOT / "include/runcible",
                      ROOT / "bindings" / language / SOURCES.get(language, "src"), output)
        root = Path(output)
        package = root / "runcible"
        return imports.modules(language, package if package.is_dir() else root)


class Imports(unittest.TestCase):
    def circles(self, language, planted=None):
        """Returns the cycles of a package, with a line added to some modules."""
        sources = modules(language)
        for name, line in (planted or {}).items():
            sources[name] += line
        return circles(OF[language][0](sources))

    def test_packages_have_no_cycles(self):
        for language in OF:
            self.assertEqual(self.circles(language), [], language)

    def test_planted_cycles_are_found(self):
        model = [["model", "session"]]
        self.assertEqual(self.circles("python", {
            "session": "\nfrom .model import Model\n"}), model)
        self.assertEqual(self.circles("python", {
            "session": "\ndef late():\n    from . import model\n"}), model)
        self.assertEqual(self.circles("node", {
            "session": '\nexport { Model } from "./model";\n'}), model)
        self.assertEqual(self.circles("web", {
            "session": '\nexport { Model } from "./model.js";\n'}), model)
        self.assertIn(["engine", "worker/worker"], self.circles("web", {
            "worker/worker": '\nimport { Engine } from "../engine.js";\n',
            "engine": '\nimport "./worker/worker.js";\n'}))
        self.assertEqual(self.circles("node", {
            "session": '\nconst late = () => import("./model");\n'}), model)

    def test_longer_cycles_and_those_of_the_package_itself_are_found(self):
        self.assertEqual(circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}),
                         [["a", "b", "c"]])
        self.assertIn(["__init__", "errors"], self.circles("python", {
            "errors": "\nfrom . import Backend\n"}))

    def test_imports_for_types_do_not_count(self):
        self.assertEqual(self.circles("node", {
            "session": '\nimport type { LoadOptions } from "./model";\n'}), [])


if __name__ == "__main__":
    unittest.main()

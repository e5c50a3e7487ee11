"""The imports between the modules of a package, and their cycles.

    imports.py python FOLDER | imports.py node FOLDER | imports.py web FOLDER

Imports only for types do not count, because no program runs them: `if TYPE_CHECKING:`
and `import type`. Imports within functions count, because they hide a cycle.
"""

import ast
import posixpath
import re
import sys
from pathlib import Path
from typing import Dict, List, Set

_IMPORT = re.compile(r"^(?:import|export)\s+(?!type\b)([^;]*?)\bfrom\s+"
                     r"\"(\.\.?/[\w/]+)(?:\.js)?\"", re.MULTILINE)
_BARE = re.compile(r"(?:^import\s+|\bimport\(|\brequire\()\"(\.\.?/[\w/]+)(?:\.js)?\"",
                   re.MULTILINE)


class _Imports(ast.NodeVisitor):
    """The modules of a package that one of them imports."""

    def __init__(self, modules: Set[str]) -> None:
        self.modules, self.found = modules, set()

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 1 and node.module:
            self.found.add(node.module.split(".")[0])
        elif node.level == 1:
            # A name that is not a module belongs to the package itself.
            self.found |= {each.name if each.name in self.modules else "__init__"
                           for each in node.names}


def of_python(sources: Dict[str, str]) -> Dict[str, Set[str]]:
    """Returns the imports of each module, from sources by the names of the modules."""
    graph = {}
    for name, source in sources.items():
        imports = _Imports(set(sources) | {"native"})
        imports.visit(ast.parse(source))
        graph[name] = imports.found
    return graph


def of_typescript(sources: Dict[str, str]) -> Dict[str, Set[str]]:
    """The same for TypeScript."""
    graph = {}
    for name, source in sources.items():
        found = set(_BARE.findall(source))
        for names, module in _IMPORT.findall(source):
            given = [each.strip() for each in names.strip().strip("{}").split(",")]
            if not all(each.startswith("type ") for each in given if each):
                found.add(module)
        folder = posixpath.dirname(name)
        graph[name] = {posixpath.normpath(posixpath.join(folder, each)) for each in found}
    return graph


def circles(graph: Dict[str, Set[str]]) -> List[List[str]]:
    """Returns the cycles of imports, each once, from its first module by name."""
    found: List[List[str]] = []

    def follow(path: List[str]) -> None:
        for each in sorted(graph.get(path[-1], ())):
            if each == path[0]:
                found.append(path)
            elif each not in path and each > path[0]:
                follow([*path, each])

    for name in sorted(graph):
        follow([name])
    return found


OF = {"python": (of_python, ".py"), "node": (of_typescript, ".ts"),
      "web": (of_typescript, ".ts")}


def modules(language: str, folder: Path) -> Dict[str, str]:
    """Returns the sources in a folder, by the names of their modules."""
    return {path.relative_to(folder).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
            for path in folder.rglob("*" + OF[language][1])}


def main(language: str, folder: str) -> int:
    found = circles(OF[language][0](modules(language, Path(folder))))
    for circle in found:
        print(" -> ".join([*circle, circle[0]]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
"""Checks that only the doors to the operating system include its headers.

    tests/structure/system_headers.py           fails for each header of the system that
                                                src or backends include elsewhere
    tests/structure/system_headers.py --list    prints what the doors include

A door is a folder of the table below; what it does stands behind headers of ours. All
that is included with <...> and belongs neither to the languages nor to a library counts
as a header of the system. The check tries itself on planted files first.
"""

import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
AREAS = ("src", "backends")
KINDS = {".h", ".cc", ".c"}
INCLUDE = re.compile(r"\s*#\s*include(?:_next)?\s*<([^>]+)>")

# Folders that include headers of the system, and what other files use instead of them.
# The last three are compiled for browsers alone.
DOORS = {
    "src/base/platform/": "a header of src/base",
    "src/cli/platform/": "src/cli/system.h, or another header of src/cli",
    "src/probe/platform/": "src/probe/system.h",
    "src/web/": "src/base",
    "backends/webgpu/browser/": "src/base",
    "backends/cpu/relaxed/": "src/base",
}

# The headers of C++ have neither an ending nor a folder. Of those of C the languages
# share these; the others have names of C++, and as <signal.h> or <time.h> they declare
# calls of the system.
OF_C = {"stddef.h", "stdint.h"}
# Headers of compilers, for their processors and their runtime.
OF_COMPILERS = {"arm_neon.h", "cpuid.h", "cxxabi.h", "emmintrin.h", "immintrin.h",
                "wasm_simd128.h"}
# Libraries, by folder or header, and our own public headers.
OF_LIBRARIES = ("CL/", "CLI/", "curl/", "histedit.h", "nlohmann/", "pcre2.h", "runcible/",
                "toml++/", "utf8proc.h", "uv.h", "volk.h", "vulkan/")


def is_of_system(header):
    """Whether a header belongs neither to the languages nor to a library."""
    if "/" not in header and "." not in header:
        return False
    return (header not in OF_C and header not in OF_COMPILERS
            and not header.startswith(OF_LIBRARIES))


def door_of(path):
    """The door that a file lies in, if any."""
    return next((door for door in DOORS if path.startswith(door)), None)


def advice(path):
    """What a file uses instead of a header of the system."""
    for door in ("src/cli/platform/", "src/probe/platform/"):
        if path.startswith(door.removesuffix("platform/")):
            return f"use {DOORS[door]}, which {door} implements"
    door = "src/base/platform/"
    return f"use {DOORS[door]}, which {door} implements"


def system_includes(root):
    """Path, line number and header of each header of the system that is included."""
    for area in AREAS:
        for path in sorted((root / area).rglob("*")):
            if path.suffix not in KINDS or not path.is_file():
                continue
            lines = path.read_text(errors="replace").split("\n")
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                if match and is_of_system(match[1]):
                    yield path.relative_to(root).as_posix(), number, match[1]


def violations(root):
    """A message for each header of the system that is included outside the doors."""
    return [f"{path}:{number}: <{header}> is a header of the system; {advice(path)}"
            for path, number, header in system_includes(root) if not door_of(path)]


def check_itself():
    """Fails if a planted violation is not found, or what is allowed is."""
    planted = {
        "src/hub/planted.cc": ("#include <vector>\n\n  #  include <sys/stat.h>\n", 3,
                               "<sys/stat.h>", "src/base"),
        "src/base/planted.h": ("#include <unistd.h>\n", 1, "<unistd.h>", "src/base"),
        "src/cli/planted.cc": ("#include <signal.h>\n", 1, "<signal.h>",
                               "src/cli/system.h"),
        "src/probe/planted.cc": ("#include <dlfcn.h>\n", 1, "<dlfcn.h>",
                                 "src/probe/system.h"),
        "backends/cpu/planted.cc": ("#if 1\n#include <emscripten/heap.h>\n#endif\n", 2,
                                    "<emscripten/heap.h>", "src/base"),
        "src/base/planted.c": ("#include <windows.h>\n", 1, "<windows.h>", "src/base"),
    }
    allowed = {
        "src/base/platform/posix/planted.cc": "#include <unistd.h>\n",
        "src/cli/platform/posix/planted.cc": "#include <termios.h>\n",
        "backends/webgpu/browser/planted.cc": "#include <emscripten/em_js.h>\n",
        "backends/cpu/planted.h": "#include <stdint.h>\n#include <immintrin.h>\n",
        "src/text/planted.cc": "#include <csignal>\n#include <utf8proc.h>\n"
                               "// #include <unistd.h>\n#include \"base/file.h\"\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        texts = {path: text for path, (text, *_) in planted.items()} | allowed
        for path, text in texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        found = violations(root)
    for path, (_, number, header, instead) in planted.items():
        messages = [each for each in found if each.startswith(f"{path}:{number}: ")]
        if len(messages) != 1 or header not in messages[0] or instead not in messages[0]:
            sys.exit(f"the check does not find the {header} planted into {path}: {found}")
    if len(found) != len(planted):
        sys.exit(f"the check refuses what is allowed: {found}")


def main():
    check_itself()
    includes = list(system_includes(ROOT))
    if "--list" in sys.argv:
        for path, number, header in includes:
            print(f"{path}:{number}: <{header}>")
    unused = [door for door in DOORS
              if not any(path.startswith(door) for path, _, _ in includes)]
    wrong = violations(ROOT) + [f"{door} is a door that nothing goes through; remove it "
                                "from the table" for door in unused]
    print(f"{len(includes)} headers of the system are included, "
          f"{len(includes) - len(violations(ROOT))} of them within the doors")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()

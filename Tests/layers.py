#!/usr/bin/python3
"""Prints the pairs of folders in one target of Sources that refer to each other in both directions, and fails if there
are any. A folder refers to another if it names a type that the other declares. Arguments name the targets; without any,
all are checked."""

import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parent.parent / "Sources"
DECLARED = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*"
                      r"(?:(?:open|public|package|internal|final|indirect|nonisolated)\s+)*"
                      r"(?:class|struct|enum|protocol|actor|typealias)\s+(\w+)", re.M)
IGNORED = re.compile(r'//.*|/\*.*?\*/|"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"')


def words(text):
    return set(re.findall(r"\b[A-Z]\w*", text))


def pairs(target):
    """The folders' pairs that refer to each other, with the types by which they do."""
    declared, used = {}, {}
    for file in target.rglob("*.swift"):
        folder = str(file.parent.relative_to(target))
        text = IGNORED.sub("", file.read_text())
        # Only types that a line of its own column 0 declares: nested ones are named by the type around them.
        declared.setdefault(folder, set()).update(
            match.group(1) for match in DECLARED.finditer(text) if not match.group(0).lstrip("\n").startswith(" "))
        used.setdefault(folder, {}).setdefault(file.name, set()).update(words(text))

    def references(one, other):
        return sorted(f"{name}: {type}" for name, found in used[one].items() for type in found & declared[other]
                      if type not in declared[one])

    folders = sorted(declared)
    for index, one in enumerate(folders):
        for other in folders[index + 1:]:
            there, back = references(one, other), references(other, one)
            if there and back:
                yield one, other, there, back


def main():
    found = 0
    targets = [SOURCES / name for name in sys.argv[1:]] or sorted(SOURCES.iterdir())
    for target in targets:
        for one, other, there, back in pairs(target):
            found += 1
            print(f"{target.name}: {one} and {other} refer to each other")
            print("    " + ", ".join(there[:8]))
            print("    " + ", ".join(back[:8]))
    return 1 if found else 0


sys.exit(main())

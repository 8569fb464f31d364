#!/usr/bin/python3
"""Checks that documentation names what exists. Prints each violation, and fails if there is one.

In Swift's documentation comments and in documentation catalogs, each link (``Symbol``) names a symbol that the same
target declares, or a type of any target. In documents, each file, function and identifier exists, and each link to a file leads to one.
"""
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
DOCUMENTS = ["Documentation/Architecture.md", "Documentation/Store.md", "Documentation/Agent.md"]
DECLARATION = re.compile(
    r"\b(func|init|subscript|var|let|case|struct|class(?! func| var)|enum|protocol|actor|typealias|associatedtype|macro)\b[?!]?"
    r"\s*(?:`?([A-Za-z_]\w*)`?|(?=[(<]))")
CASES = re.compile(r"^\s*(?:indirect )?case (?!let\b|var\b|\.)(.*)", re.M)


def target(path):
    """The folder of a target: Sources/NAME, Examples/NAME or a folder in Tests."""
    return "/".join(path.split("/")[: 3 if path.startswith("Tests/Support/") else 2])


def parenthesized(text, start):
    """The text between the parenthesis at `start` and the one that closes it."""
    depth = 0
    for index in range(start, len(text)):
        if text[index] in "([{":
            depth += 1
        elif text[index] in ")]}":
            depth -= 1
            if depth == 0:
                return text[start + 1 : index]
    return ""


def labels(parameters):
    """The labels of a parameter list, as a link writes them: `_:at:`."""
    names, depth, part = [], 0, ""
    for character in parameters.replace("->", "  ") + ",":
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        if character == "," and depth == 0:
            words = re.sub(r"@\w+(\([^)]*\))?|//.*", "", part).split(":")[0].split()
            if words:
                names.append((words[0].strip("`") if ":" in part else "_") + ":")
            part = ""
        else:
            part += character
    return "".join(names)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


files = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n")
files = [path for path in files if os.path.exists(path)]
swift = {path: read(path) for path in files if path.endswith(".swift")}

# By target: the declared names, and each function with its labels. Types: the names of all types and targets.
declared, types = {}, {"Swift"} | {target(path).split("/")[-1] for path in swift}
for path, text in swift.items():
    names = declared.setdefault(target(path), set())
    code = re.sub(r"^\s*//.*", "", text, flags=re.M)
    for match in DECLARATION.finditer(code):
        kind, name = match.group(1), match.group(2) or ""
        if kind in ("init", "subscript"):
            name = kind
        if kind in ("struct", "class", "enum", "protocol", "actor", "typealias"):
            types.add(name)
        names.add(name)
        if kind in ("func", "init", "subscript", "case"):
            opening = re.compile(r"\s*(?:<[^(]*>)?\s*\(").match(code, match.end())
            if opening:
                names.add(name + "(" + labels(parenthesized(code, opening.end() - 1)) + ")")
    for match in CASES.finditer(code):
        names.update(re.findall(r"\b[a-z]\w*", match.group(1)))
    names.update(re.findall(r"\b(?:let|var) \(([^)]*)\)", code))

found = []


everything = set().union(*declared.values())


def resolves(link, names):
    """Whether each part of a link is declared: the first in `names`, or a type; the others, its members, anywhere."""
    if link.startswith("Swift/"):
        link = link.split("/")[-1]
    first, *members = (part for part in re.split(r"[/.](?![^(]*\))", re.sub(r"-\(.*", "", link)) if part)
    return (first in names or first in types) and all(part in everything for part in members)


comment = re.compile(r"^\s*///(.*)$")
for path, text in swift.items():
    names = declared[target(path)]
    for number, line in enumerate(text.split("\n"), 1):
        match = comment.match(line)
        for link in re.findall(r"``([^`]+)``", match.group(1)) if match else []:
            if not resolves(link, names):
                found.append(f"{path}:{number}: a link that names no symbol: ``{link}``")
for path in files:
    if ".docc/" in path and path.endswith(".md"):
        names = declared[target(path)]
        for link in re.findall(r"``([^`\n]+)``", read(path)):
            if not resolves(link, names):
                found.append(f"{path}: a link that names no symbol: ``{link}``")

sources = [path for path in files if path.startswith(("Sources/", "policy/", "systemd/", "Tests/"))]
words = set()
for path in sources:
    if path.endswith((".swift", ".varlink", ".h", ".c", ".cpp", ".toml")):
        words.update(re.findall(r"\w+", swift.get(path) or read(path)))
basenames = {os.path.basename(path) for path in files}
folders = {os.path.dirname(path) for path in files}
folders |= {os.path.basename(path) for path in folders}


def exists(token):
    """Whether what a document names exists; `None` if it is nothing that this script knows."""
    if re.fullmatch(r"[\w+./-]+\.(swift|h|c|cpp|varlink|docc)", token):
        if "/" not in token:
            return token in basenames
        return any(os.path.exists(folder + token) for folder in ("Sources/", ""))
    if re.fullmatch(r"(\w+\.)*\w+\([\w:]*\)", token):
        return resolves(token, everything) or all(part in everything for part in token.rstrip("()").split("."))
    if re.fullmatch(r"[A-Z]\w*\.\w+", token):
        return all(part in words for part in token.split("."))
    if re.fullmatch(r"[A-Z][a-z]\w*|[a-z]+[A-Z]\w*", token):
        return token in words or token in folders
    return None


for document in DOCUMENTS:
    for number, line in enumerate(read(document).split("\n"), 1):
        for token in re.findall(r"`([^`]+)`", line):
            if exists(token) is False:
                found.append(f"{document}:{number}: names what does not exist: {token}")

for path in files:
    if path.endswith(".md") and "/Fixtures/" not in path:
        for link in re.findall(r"\]\(([^)#:\s]+)[^):]*\)", re.sub(r"```.*?```|`[^`\n]*`", "", read(path), flags=re.S)):
            if not os.path.exists(os.path.join(os.path.dirname(path), link)):
                found.append(f"{path}: a link to a file that does not exist: {link}")

print("\n".join(found), file=sys.stderr, end="\n" if found else "")
sys.exit(1 if found else 0)

#!/usr/bin/env python3
"""Lists the options of the programs that nothing runs: no test, scenario, boot test or script.

    scripts/check/untested_options.py [--programs .build/release] [--check]

The options come from the programs' own help. An option counts as run if a command line in one of the files below names it behind its
command: in a list or a call of Swift or Python, or in a line of a shell script or a scenario. Only parsing an option does not count.
--check fails if the list is not empty.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
#: Where command lines are that are run.
FOLDERS = ["Tests", "scripts", ".ci", "Docs/examples"]
#: Python's programs have a parser of their own.
PYTHON = "python3 -m waymark_nav"
#: Options that every command has.
COMMON = {"help", "version", "help-hidden"}
#: What starts a program in Swift's tests without its name.
STARTERS = {"RunningDaemon.start": "waymarkd", "RunningDaemon.observed": "waymarkd"}

#: What names a program in Swift's tests.
CONSTANTS = {"executable": "waymarkd"}
#: The names of commands, as far as they are known.
COMMANDS: set[str] = set()

Options = dict[tuple[str, ...], set[str]]


def options_of(program: Path, name: str) -> Options:
    """The options of each command, by its path from the program's name on."""
    help_text = subprocess.run([program, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
    found: Options = {}

    def walk(command: dict, path: tuple[str, ...]) -> None:
        names = {
            name["name"]
            for argument in command.get("arguments", [])
            if argument["kind"] != "positional" and argument.get("shouldDisplay", True)
            for name in argument.get("names", [])
            if name["kind"] == "long"
        }
        children = [child for child in command.get("subcommands", []) if child["commandName"] != "help"]
        if not children:
            found[path] = names - COMMON
        for child in children:
            walk(child, (*path, child["commandName"]))

    walk(json.loads(help_text)["command"], (name,))
    return found


def python_options() -> Options:
    """The options of the Python package's commands."""
    sys.path.insert(0, str(ROOT / "Sources/python"))
    from waymark_nav._cluster import parser

    found: Options = {}
    for action in parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                texts = {text.removeprefix("--") for option in command._actions for text in option.option_strings if text.startswith("--")}
                found[PYTHON, name] = texts - COMMON
    return found


# Words of command lines: each unit is what may be one command line, or several behind each other.


def swift_units(text: str) -> Iterator[list[str]]:
    """The texts of each function, in their order. A call of a function that runs a command stands for the command's name."""
    literal = r'"{3}[\s\S]*?"{3}|"(?:[^"\\\n]|\\.)*"'
    text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    functions = re.split(r"\bfunc\b|(?=\binit\()", text)
    starters = dict(STARTERS)
    kind = ""
    for function in functions:
        name = re.match(r"\s*(\w+)\(", function)
        called = kind if name and name[1] == "init" else name[1] if name else ""
        is_helper = re.search(r"\barguments\b|String\.\.\.", function) and re.search(r"Program\(|Process\(|waymark\(", function)
        words = [word.strip('"') for word in re.findall(literal, function)]
        words += [value for name, value in CONSTANTS.items() if re.search(rf"\b{name}\b", function)]
        command = next((word for word in words if word in COMMANDS), None)
        if called and is_helper and command:
            starters[called] = " ".join(words[words.index(command) :][:3])
        # The type that a following initializer makes.
        for found in re.findall(r"\b(?:struct|class|actor) (\w+)", function):
            kind = found
    starter = "|".join(rf"\b{re.escape(name)}\(" for name in starters)
    for function in functions:
        words = []
        for token in re.findall(rf"{starter}|\.parse\(|{literal}", function):
            if token == ".parse(":
                words.append("")  # Nothing runs what is only parsed.
            elif token.endswith("("):
                words += starters[token[:-1]].split()
            else:
                words += token.strip('"').split() or [""]
        yield words


def python_units(text: str) -> Iterator[list[str]]:
    """The texts of each function, and of what is outside of functions. A name of a command line stands for its words."""
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    known: dict[str, list[str]] = {}

    def words_of(scope: ast.AST) -> list[str]:
        nodes: list[tuple[int, int, list[str]]] = []
        for node in ast.walk(scope):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n\n" not in node.value:
                nodes.append((node.lineno, node.col_offset, re.split(r"[\s{}]+", node.value)))
            elif isinstance(node, ast.Name | ast.Attribute) and node is not scope:
                name = node.id if isinstance(node, ast.Name) else node.attr
                if name in known:
                    nodes.append((node.lineno, node.col_offset, known[name]))
        nodes.sort(key=lambda node: node[:2])
        return [word for _, _, words in nodes for word in words]

    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            words = words_of(node.value)
            if any(word in COMMANDS for word in words):
                known[node.targets[0].id] = words
    for function in functions:
        if function.args.vararg or any(argument.arg in ("arguments", "options") for argument in function.args.args):
            words = words_of(function)
            if command := next((word for word in words if word in COMMANDS), None):
                known[function.name] = words[words.index(command) :][:2]
    for scope in [*functions, tree]:
        yield words_of(scope)


def shell_units(text: str) -> Iterator[list[str]]:
    """Lines, with those that continue them."""
    for line in text.replace("\\\n", " ").split("\n"):
        if not line.lstrip().startswith("#"):
            yield re.split(r"[\s\"'()\[\],;]+", line)


def units() -> Iterator[tuple[Path, list[str]]]:
    readers = {".swift": swift_units, ".py": python_units}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if not path.is_file() or path == Path(__file__).resolve() or path.stat().st_size > 1_000_000:
                continue
            try:
                text = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
            is_script = path.suffix in ("", ".sh", ".yaml", ".service")
            reader = readers.get(path.suffix, shell_units if is_script else None)
            if reader is None:
                continue
            for words in reader(text):
                yield path, words


class Search:
    """Finds the options behind commands."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._tops: dict[str, list[tuple[str, ...]]] = {}
        for path in options:
            self._tops.setdefault(path[1] if len(path) > 1 else path[0], []).append(path)
        self.found: Options = {path: set() for path in options}

    def see(self, words: list[str], is_python: bool) -> None:
        current: list[tuple[str, ...]] = []
        depth = 0
        for word in words:
            name = word.rsplit("/", 1)[-1]
            if word == "":
                continue
            if name in self._tops and not word.startswith("--"):
                # Both implementations have a command `cluster`.
                current, depth = self._tops[name], 2
                continue
            if any(len(path) > depth and path[depth] == word for path in current):
                current = [path for path in current if len(path) > depth and path[depth] == word]
                depth += 1
                continue
            option = re.match(r"--([a-z][a-z-]*)", word)
            if option is None:
                continue
            for path in current:
                if (is_python or path[0] != PYTHON) and option[1] in self._options[path]:
                    self.found[path].add(option[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, default=ROOT / ".build/release")
    parser.add_argument("--check", action="store_true", help="fail if something is untested")
    arguments = parser.parse_args()
    options = (
        options_of(arguments.programs / "waymark", "waymark") | options_of(arguments.programs / "waymarkd", "waymarkd") | python_options()
    )
    COMMANDS.update(path[1] if len(path) > 1 else path[0] for path in options)
    search = Search(options)
    for path, words in units():
        search.see(words, is_python="Python" in path.parts or path.suffix != ".swift")
    count = 0
    for path, names in sorted(options.items()):
        for name in sorted(names - search.found[path]):
            print(f"{' '.join(path)} --{name}")
            count += 1
    total = sum(map(len, options.values()))
    print(f"{count} of {total} options are run by nothing", file=sys.stderr)
    return 1 if arguments.check and count else 0


if __name__ == "__main__":
    sys.exit(main())

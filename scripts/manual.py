#!/usr/bin/env python3
"""manual.py NAME SECTION SUMMARY FILE: prints a page of Docs as a manual page.

Reads the Markdown that the documents use: headings, paragraphs, bullets, fenced examples, tables; code, bold and links.
"""
import re
import sys


def inline(text):
    """One line of Markdown as roff."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = text.replace("\\|", "|").replace("\\", "\\e").replace("-", "\\-")
    for character, escape in {"…": "\\[u2026]", "→": "\\->", "↔": "\\[<>]", "–": "\\[en]", "×": "\\[mu]", "²": "\\[S2]"}.items():
        text = text.replace(character, escape)
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)
    text = re.sub(r"\*\*([^*]*)\*\*", r"\\fB\1\\fR", text)
    return "\\&" + text if text[:1] in (".", "'") else text


def verbatim(line):
    return "\\&" + line.replace("\\", "\\e").replace("-", "\\-")


def row(line):
    """The cells of a line of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def table(lines):
    """A table: the first cell as a term, the others as its description, with the header's words between."""
    header, entries = row(lines[0]), [row(line) for line in lines[2:]]
    for entry in entries:
        yield ".TP"
        yield inline(entry[0])
        described = [cell for cell in entry[1:-1] if cell]
        names = [name for name, cell in zip(header[1:-1], entry[1:-1]) if cell]
        yield inline(entry[-1])
        if described:
            yield ".br"
            yield inline("; ".join(f"{name}: {cell}" for name, cell in zip(names, described)))
    yield ".PP"


def page(name, section, summary, text):
    yield f'.TH "{name.upper()}" "{section}" "" "Waymark" ""'
    yield ".SH NAME"
    yield f"{name} \\- {summary}"
    yield ".SH DESCRIPTION"
    lines = text.splitlines()
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if line.startswith("# "):
            continue
        if line.startswith("## "):
            yield f'.SH "{inline(line[3:]).upper()}"'
        elif line.startswith("### "):
            yield f'.SS "{inline(line[4:])}"'
        elif line.startswith("```"):
            yield from (".PP", ".RS 4", ".nf")
            while not lines[index].startswith("```"):
                yield verbatim(lines[index])
                index += 1
            index += 1
            yield from (".fi", ".RE", ".PP")
        elif line.startswith("    "):
            yield from (".PP", ".RS 4", ".nf", verbatim(line[4:]))
            while index < len(lines) and lines[index].startswith("    "):
                yield verbatim(lines[index][4:])
                index += 1
            yield from (".fi", ".RE", ".PP")
        elif line.startswith("|"):
            rows = [line]
            while index < len(lines) and lines[index].startswith("|"):
                rows.append(lines[index])
                index += 1
            yield from table(rows)
        elif line.startswith("* "):
            yield from (".IP \\(bu 2", inline(line[2:]))
        elif not line.strip():
            yield ".PP"
        else:
            yield inline(line.strip())


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    name, section, summary, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        print("\n".join(page(name, section, summary, file.read())))


main()

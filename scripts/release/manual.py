#!/usr/bin/env python3
"""manual.py NAME SECTION SUMMARY SYNOPSIS FILE: prints a page of Docs as a manual page.

Reads the Markdown that the documents use: headings, paragraphs, bullets, fenced examples, tables; code, bold and links.
"""

import re
import sys

SPECIAL = {"…": "\\[u2026]", "→": "\\[->]", "↔": "\\[<>]", "–": "\\[en]", "×": "\\[mu]", "²": "\\[S2]"}
# The folder of the documents in the package.
DOCUMENTS = "/usr/share/doc/waymark/"


def plain(text):
    """The text with roff escapes."""
    text = text.replace("\\|", "|").replace("\\", "\\e").replace("-", "\\-").replace("'", "\\[aq]")
    for character, escape in SPECIAL.items():
        text = text.replace(character, escape)
    return text


def link(match):
    """A link's text, with the path if it leads to another page."""
    text, target = match.group(1), match.group(2).split("#")[0]
    if not target.endswith(".md"):
        return text
    return f"{text} ({DOCUMENTS}{target})"


def inline(text):
    """A paragraph of Markdown as one line of roff."""
    text = re.sub(r"\[([^]]*)\]\(([^)]*)\)", link, text)
    parts = re.split(r"`([^`]*)`", text)
    for index, part in enumerate(parts):
        if index % 2:
            parts[index] = f"\\fB{plain(part)}\\fR"
        else:
            parts[index] = re.sub(r"\*\*([^*]*)\*\*", r"\\fB\1\\fR", plain(part))
    text = "".join(parts)
    return "\\&" + text if text[:1] in (".", "'") else text


def verbatim(line):
    return "\\&" + line.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\[aq]")


def row(line):
    """The cells of a line of a table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


def table(lines):
    """A table as a list: the first cell is the term, the column "what" or "does" its description, then the other cells."""
    header, entries = row(lines[0]), [row(line) for line in lines[2:]]
    main = next((place for place, name in enumerate(header) if name in ("does", "what")), len(header) - 1)
    for entry in entries:
        yield ".TP"
        yield inline(entry[0])
        yield inline(entry[main])
        others = [f"{header[place]}: {cell}" for place, cell in enumerate(entry) if place not in (0, main) and cell]
        if others:
            yield ".br"
            yield inline("; ".join(others))
    yield ".PP"


def taken(lines, index, belongs):
    """The lines from `index` on that belong together."""
    end = index
    while end < len(lines) and belongs(lines[end]):
        end += 1
    return lines[index:end]


def is_text(line):
    return bool(line.strip()) and not re.match(r"#|```|    |\||\* |\d+\. ", line)


def page(name, section, summary, synopsis, text):
    yield f'.TH "{name.upper()}" "{section}" "" "Waymark" ""'
    # Without hyphenation and justification, because most lines contain commands.
    yield from (".nh", ".ad l")
    yield ".SH NAME"
    yield f"{name} \\- {plain(summary)}"
    yield ".SH SYNOPSIS"
    yield inline(synopsis)
    yield ".SH DESCRIPTION"
    lines = text.splitlines()
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if line.startswith("# "):
            continue
        if line.startswith("## "):
            yield f'.SH "{inline(line[3:].upper())}"'
        elif line.startswith("### "):
            yield f'.SS "{inline(line[4:])}"'
        elif line.startswith(("```", "    ")):
            if line.startswith("```"):
                example = taken(lines, index, lambda each: not each.startswith("```"))
                index += len(example) + 1
            else:
                example = [each[4:] for each in taken(lines, index - 1, lambda each: each.startswith("    "))]
                index += len(example) - 1
            yield from (".PP", ".RS 4", ".nf", *map(verbatim, example), ".fi", ".RE", ".PP")
        elif line.startswith("|"):
            rows = [line, *taken(lines, index, lambda each: each.startswith("|"))]
            index += len(rows) - 1
            yield from table(rows)
        elif match := re.match(r"(\*|\d+\.) (.*)", line):
            rest = taken(lines, index, lambda each: re.match(r"  +\S", each) and not each.startswith("    "))
            index += len(rest)
            mark = "\\(bu" if match.group(1) == "*" else match.group(1)
            yield f".IP {mark} 3"
            yield inline(" ".join([match.group(2)] + [each.strip() for each in rest]))
        elif not line.strip():
            yield ".PP"
        else:
            rest = taken(lines, index, is_text)
            index += len(rest)
            yield inline(" ".join(each.strip() for each in [line, *rest]))


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    name, section, summary, synopsis, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        print("\n".join(page(name, section, summary, synopsis, file.read())))


main()

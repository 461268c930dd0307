#!/usr/bin/env python3
"""requirements.py [PAGE]: prints each requirement of a page (default Docs/protocol.md) as its id, a tab, and its text in one line."""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "Docs/protocol.md"
# A requirement ends at an empty line, at the next list item, and at a table.
REQUIREMENT = re.compile(r'^\* <a id="[^"]+"></a>\[(REQ-[A-Z]+-\d\d)\]\(#[^)]+\) (.+?)(?=\n\n|\n\* |\n\||\Z)', re.M | re.S)


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    page = Path(sys.argv[1]) if len(sys.argv) == 2 else PAGE
    for identifier, text in REQUIREMENT.findall(page.read_text(encoding="utf-8")):
        plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(text.split()))
        print(f"{identifier}\t{plain}")


main()

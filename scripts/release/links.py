#!/usr/bin/env python3
"""links.py FOLDER: checks the relative links, with their headings and anchors, of every Markdown page below FOLDER.

Prints each broken link, and exits with status 1 if there are any.
"""

import functools
import os
import re
import sys


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return re.sub(r"^```.*?^```", "", file.read(), flags=re.S | re.M)


@functools.cache
def anchors(path):
    """The anchors of a page: its own, and those that code hosts generate for its headings."""
    text = text_of(path)
    titles = re.findall(r"^#+ (.+)$", text, flags=re.M)
    generated = {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
    return generated.union(re.findall(r'<a id="([^"]+)"></a>', text))


def broken(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.join(os.path.dirname(page), path) if path else page
        if not os.path.exists(path) or (anchor and path.endswith(".md") and anchor not in anchors(path)):
            yield target


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pages = [os.path.join(folder, name) for folder, _, names in os.walk(sys.argv[1]) for name in names]
    found = [f"{page}: {target}" for page in sorted(pages) if page.endswith(".md") for target in broken(page)]
    if found:
        sys.exit("broken links:\n" + "\n".join(found))


main()

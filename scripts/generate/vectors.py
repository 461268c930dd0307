#!/usr/bin/env python3
"""vectors.py [--check]: makes Protos/vectors/*.jsonl from the protos; --check only compares them with the files.

What is in them is said in Protos/vectors/README.md. No codec of this project is used: vector_rules.py says what is valid, by
Docs/protocol.md.
"""

import json
import sys
from pathlib import Path

from vector_bodies import Bodies
from vector_cases import Cases, Large
from vector_conversations import Conversations
from vector_drives import Drives
from vector_frames import Frames
from vector_parts import Parts
from vector_schema import Protos

FOLDER = Path(__file__).resolve().parents[2] / "Protos/vectors"


def files():
    """The lines of each file, by its name."""
    protos = Protos()
    files = {}
    names = set()
    makers = [Bodies, Cases, Large, Frames, Parts, Conversations, Drives]
    for file, vector in (each for maker in makers for each in maker(protos).all()):
        if vector["name"] in names:
            sys.exit(f"two vectors are called {vector['name']}")
        names.add(vector["name"])
        files.setdefault(f"{file}.jsonl", []).append(vector)
    return files


def main(arguments):
    made = {
        name: "".join(json.dumps(vector, ensure_ascii=False, separators=(",", ":")) + "\n" for vector in vectors)
        for name, vectors in files().items()
    }
    if arguments == ["--check"]:
        present = {path.name: path.read_text() for path in FOLDER.glob("*.jsonl")}
        stale = sorted(name for name in made.keys() | present.keys() if made.get(name) != present.get(name))
        if stale:
            sys.exit(f"Protos/vectors: {', '.join(stale)} stale: run scripts/generate/vectors.py")
        return
    for path in FOLDER.glob("*.jsonl"):
        path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text)
    print(f"{sum(text.count(chr(10)) for text in made.values())} vectors in {FOLDER}")


if __name__ == "__main__":
    main(sys.argv[1:])

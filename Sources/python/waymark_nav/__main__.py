"""The command line: see _cluster.py."""

import io
import sys

from waymark_nav._cluster import main

if isinstance(sys.stdout, io.TextIOWrapper):
    # JSON is UTF-8 in every locale.
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
sys.exit(main())

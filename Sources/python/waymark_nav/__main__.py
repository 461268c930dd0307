"""The command line: see _cluster.py."""

import sys

from waymark_nav._cluster import main

sys.exit(main())

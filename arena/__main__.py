"""`python -m arena`: the command line."""

import sys

from arena.cli import main

sys.exit(main())

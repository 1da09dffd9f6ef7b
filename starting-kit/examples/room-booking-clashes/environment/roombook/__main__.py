"""python3 -m roombook JOURNAL: replays a journal and prints what came of it, as JSON."""

import json
import sys

from roombook.journal import replay

if __name__ == "__main__":
    print(json.dumps(replay(sys.argv[1]), indent=2))

"""Checks what the agent left under /root.

Write at least three checks that fail for different reasons, as methods of a TestCase: a function
outside one is not run by the last line. The agent could have changed all that it could reach: trust
nothing under /root, neither its input files nor its code. Keep an own copy of the input beside this
file (named in the prompt), and compute what is expected from it.
"""

import unittest


class Outputs(unittest.TestCase):
    def test_replace_me(self) -> None:
        pass  # REPLACE-ME: assert on the deliverable, with a message saying what was expected


if __name__ == "__main__":
    unittest.main()

"""The command of an answer, and the answer of a script."""

from __future__ import annotations

import pytest

from arena.posttrain.commands import answer_with, command_in


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        ("```bash\nls /root\n```", "ls /root"),
        ("Sure:\n```sh\ncd /root\nls\n```\nDone.", "cd /root\nls"),
        ("```bash\nfirst\n```\n```bash\nsecond\n```", "first"),
        ("ls /root", None),
        ("```bash\nls /root", None),
        ("```python\nprint()\n```", None),
        ("```bash\n  \n```", None),
        ("", None),
    ],
)
def test_the_first_fenced_block_is_the_command(answer: str, command: str | None) -> None:
    assert command_in(answer) == command


def test_a_script_comes_back_from_its_answer_without_shebang_and_comments() -> None:
    script = "#!/bin/sh\n# why\necho '# kept'\n\nif true; then\n  ls\nfi\n"
    assert command_in(answer_with(script)) == "echo '# kept'\nif true; then\n  ls\nfi"

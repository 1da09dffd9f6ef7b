"""The command line: one file a noun, everything printed through `output`."""

from __future__ import annotations

import sys

import typer
from pydantic import ValidationError

from arena.cli import (
    account,
    check,
    commons,
    convert,
    history,
    leaderboard,
    new,
    replay,
    reviews,
    runs,
    submissions,
    suite,
    worker,
)
from arena.cli.output import plain, print_failure
from arena.errors import ArenaError, BadRequest
from arena.settings import SettingsError

app = typer.Typer(
    name="arena",
    help="PostTrain Arena: check, submit, run and rank collections of verifiable RL tasks.",
    no_args_is_help=False,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
check.register(app)
replay.register(app)
convert.register(app)
new.register(app)
account.register(app)
submissions.register(app)
runs.register(app)
reviews.register(app)
leaderboard.register(app)
commons.register(app)
history.register(app)
suite.register(app)
worker.register(app)


class Usage(ArenaError):
    code, status = "usage", 400
    text = "{problem}"
    advice = "`arena --help` and `arena COMMAND --help` say how."


class FileTrouble(ArenaError):
    code, status = "file_trouble", 400
    text = "{problem}."
    advice = "See that it is there, may be read or written, and that the disk has room."


class BadSetting(ArenaError):
    code, status = "bad_setting", 400
    text = "{problem}."
    advice = "Set the environment variable right, or unset it; docs/architecture.md lists them."


def main(arguments: list[str] | None = None) -> int:
    """Runs one command.

    Returns:
        The exit status: 0 ok, 1 the command failed or found something, 2 wrong usage.
    """
    arguments = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    as_json = "--json" in arguments
    try:
        _require_text(arguments)
        status = app(arguments, prog_name="arena", standalone_mode=False)
    except ArenaError as exc:
        print_failure(exc, as_json)
        return 2 if isinstance(exc, Usage) else 1
    except SettingsError as exc:
        print_failure(BadSetting(problem=exc), as_json)
        return 1
    except OSError as exc:
        where = f": {plain(str(exc.filename))}" if exc.filename else ""
        print_failure(FileTrouble(problem=f"{exc.strerror or type(exc).__name__}{where}"), as_json)
        return 1
    except ValidationError:
        problem = "the arena's answer has another shape than this version knows"
        print_failure(BadRequest(problem=problem), as_json)
        return 1
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("\nStopped; what was sent goes on in the arena.\n")
        return 130
    except typer.TyperException as exc:
        problem = exc.format_message() or str(exc)
        print_failure(Usage(problem=problem.replace("\n", " ")), as_json)
        return 2
    return status if isinstance(status, int) else 0


def _require_text(arguments: list[str]) -> None:
    """Python hands over bytes that are no UTF-8 as halves of a character; nothing takes those.

    Folders alone may be named so, and those that name them only read.
    """
    for argument in arguments:
        if arguments[0] != "check" and not argument.isascii():
            try:
                argument.encode()
            except UnicodeEncodeError as exc:
                raise Usage(problem=f"the argument {argument!r} is no UTF-8 text") from exc

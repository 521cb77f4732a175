"""What every command is a part of, and how the command line ends: each error is one line on standard error."""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer
import typer.core

from driftbandit._version import __version__
from driftbandit.errors import DriftbanditError, InvalidValue


class Commands(typer.core.TyperGroup):
    """All commands. The parser of the command line would end without a word at Ctrl-C."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            end_now(str(error) or "interrupted", 130)


app = typer.Typer(
    name="driftbandit",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Bandits whose arms drift: simulate policies, get exact probabilities, reproduce the paper."""
    if version:
        print(__version__)
        raise typer.Exit


def main() -> None:
    """The command `driftbandit`: status 2 for a wrong value, 1 for other errors, 130 after Ctrl-C."""
    with _warnings_shown():
        _run()


@contextlib.contextmanager
def _warnings_shown() -> Iterator[None]:
    """What the package warns of, such as a cluster without workers, goes to standard error unless others listen."""
    handler, logger = logging.StreamHandler(), logging.getLogger("driftbandit")
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("driftbandit: warning: %(message)s"))
    handler.addFilter(lambda _: not logging.getLogger().handlers)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _run() -> None:
    try:
        sys.exit(app(sys.argv[1:] or ["--help"], prog_name="driftbandit", standalone_mode=False) or 0)
    except InvalidValue as error:
        end(str(error), 2)
    except DriftbanditError as error:
        end(str(error), 1)
    except (KeyboardInterrupt, typer.Abort):
        end_now("interrupted", 130)
    except BrokenPipeError:  # whoever read our output has seen enough
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        end(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)
    except MemoryError:
        end("not enough memory: use fewer runs or arms", 1)
    except Exception as error:
        message = getattr(error, "format_message", None)  # what the parser of the command line raises
        if message is None:
            raise
        end(message(), 2)


def end(message: str, status: int) -> None:
    """Say why in one line, and end."""
    print(f"driftbandit: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)


def end_now(message: str, status: int) -> None:
    """End without waiting for a thread that may still be compiling."""
    with contextlib.suppress(SystemExit):
        end(message, status)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)

"""The `smidgen` command: gathers the commands and runs one. Imports the files of cli/ alone.

The commands import what they need when they are called: `smidgen --help` loads neither NumPy nor scikit-learn.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from smidgen import __version__
from smidgen.cli.boards import boards
from smidgen.cli.demo import demo
from smidgen.cli.doctor import doctor
from smidgen.cli.export import export
from smidgen.cli.frame import framed, guarded
from smidgen.cli.verify import verify

app = typer.Typer(
    name="smidgen",
    help="Classifiers small enough for a microcontroller, proved to fit, handed over as C.",
    rich_markup_mode=None,  # plain text for help: no boxes, no colours, nothing to load
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, export, verify, boards, doctor):
    app.command(command.__name__)(framed(command))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"smidgen {__version__}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog="Exit codes: 0 done, 1 the result falls short, 2 bad usage or bad input.",
)
def _start(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command line and give its exit code; `frame` says what the codes mean.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of this process where none are given.

    Examples
    --------
    >>> run(["boards", "--bord"])
    2
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    command = typer.main.get_command(app)
    if "_SMIDGEN_COMPLETE" in os.environ:  # a shell asks for completions: typer answers it and ends
        command.main(arguments, prog_name="smidgen")

    def invoke() -> None:
        with command.make_context("smidgen", arguments.copy()) as context:
            command.invoke(context)

    return guarded(invoke, arguments)

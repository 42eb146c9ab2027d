"""`smidgen demo`: what smidgen does, on data it brings along. Imports jobs/demo when it is called."""

from pathlib import Path
from typing import Annotated

import typer

from smidgen.cli.frame import FALLS_SHORT, Screen

OutOption = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Keep the model in this file.")]


def demo(screen: Screen, out: OutOption = None) -> None:
    """Show what fits into a kilobyte, on digits."""
    with screen.working("reading digits"):
        from smidgen.jobs.demo import run_demo

        result = run_demo(out)
    same = result.rows - result.mismatches
    screen.result(
        result.as_json(),
        f"{100 * result.accuracy:.1f} % on {result.rows:,} held-out rows · {result.model_bytes:,} bytes of model · "
        f"{result.ram_bytes:,} bytes of RAM",
        f"the saved file and Python agree on {same:,} of {result.rows:,} rows",
        *([f"{result.file} holds the model"] if result.file else []),
    )
    if result.mismatches:
        raise typer.Exit(FALLS_SHORT)

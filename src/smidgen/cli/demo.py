"""`smidgen demo`: what smidgen does, on data it brings along. Imports jobs/demo when it is called."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smidgen.cli.frame import FALLS_SHORT, Screen

if TYPE_CHECKING:
    from smidgen.boards.certificate import Certificate

OutOption = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Keep the model in this file.")]


def demo(screen: Screen, out: OutOption = None) -> None:
    """Show what fits into a few hundred bytes of an Uno, on digits."""
    with screen.working("from digits to a board"):
        from smidgen.jobs.demo import run_demo

        result = run_demo(out)
    same = result.rows - result.mismatches
    certificate = result.certificate
    measured = [_costs(certificate)] if certificate and certificate.flash_bytes is not None else []
    who = f"the simulated {certificate.board}" if certificate and certificate.board != "host" else "the compiled C"
    screen.result(
        result.as_json(),
        f"{100 * result.accuracy:.1f} % on {result.rows:,} held-out rows · {result.model_bytes:,} bytes of model",
        *measured,
        f"{who if certificate else 'the saved file'} and Python agree on {same:,} of {result.rows:,} rows",
        *([result.missing] if result.missing else []),
        *([f"{result.file} holds the model"] if result.file else []),
        *([repr(certificate)] if certificate else []),
    )
    if result.mismatches:
        raise typer.Exit(FALLS_SHORT)


def _costs(certificate: "Certificate") -> str:
    """What the model adds to a firmware, in one line."""
    parts = [f"{certificate.flash_bytes:,} bytes of flash"]
    if certificate.ram_bytes is not None:
        parts.append(f"{certificate.ram_bytes:,} bytes of RAM")
    if certificate.cycles is not None:
        parts.append(f"{certificate.milliseconds:.2f} ms a prediction")
    return f"{certificate.board}: {' · '.join(parts)}"

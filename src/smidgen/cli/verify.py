"""`smidgen verify`: does the board compute what Python does? Imports jobs/verify when it is called."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from smidgen.cli.export import ModelArgument
from smidgen.cli.frame import FALLS_SHORT, Screen

if TYPE_CHECKING:
    from smidgen.boards.certificate import Certificate


class Part(StrEnum):
    """Which rows of an NPZ file that comes split."""

    train = "train"
    test = "test"
    all = "all"


DataArgument = Annotated[Path, typer.Argument(metavar="DATA", help="A table of rows: CSV, Parquet, NPZ, LIBSVM.")]
BoardOption = Annotated[str, typer.Option("--board", metavar="NAME", help="A board, or the file of one.")]
TargetOption = Annotated[
    str | None, typer.Option("--target", metavar="COL", help="The column with what should come out.")
]
CompilerOption = Annotated[
    str | None, typer.Option("--compiler", metavar="NAME", help="One of the board's compilers; else the first here.")
]
SanitizeOption = Annotated[
    bool, typer.Option("--sanitize", help="With AddressSanitizer and UBSan; for --board host alone.")
]
PartOption = Annotated[Part | None, typer.Option("--part", help="Which rows of an NPZ file that comes split.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="Keep the certificate in this JSON file.")
]


def verify(
    screen: Screen,
    model: ModelArgument,
    data: DataArgument,
    *,
    board: BoardOption = "uno",
    target: TargetOption = None,
    compiler: CompilerOption = None,
    sanitize: SanitizeOption = False,
    part: PartOption = None,
    out: OutOption = None,
) -> None:
    """Run every row on a simulated board, compare with Python."""
    with screen.working(f"compiling for {board} and running every row"):
        from smidgen.jobs.verify import run_verify

        certificate = run_verify(
            model,
            data,
            board=board,
            target=target,
            compiler=compiler,
            sanitize=sanitize,
            part=None if part is None else part.value,
            out=out,
        )
    kept = [] if out is None else [f"{out} holds the certificate"]
    screen.result(certificate.as_json(), *_text(certificate), *kept)
    if not certificate.agrees:
        raise typer.Exit(FALLS_SHORT)


def _text(found: "Certificate") -> Iterator[str]:
    same = found.rows - found.mismatches
    yield f"{found.board} and Python agree on {same:,} of {found.rows:,} rows"
    if found.near_ties:
        yield f"{found.near_ties:,} rows are near-ties, in which float32 may decide either way"
    if found.mismatches:
        yield f"their scores differ by up to {found.worst_score_difference:g}"
    if found.constant_bytes is not None and found.constant_bytes > found.model_bytes:
        yield f"the object file holds {found.constant_bytes:,} bytes of constants, the model says {found.model_bytes:,}"
    sizes = [
        f"{name} {100 * value:.1f} %" if value <= 1 else f"{name} {value:.4g}" for name, value in found.measures.items()
    ]
    if found.flash_bytes is not None:
        sizes.append(f"{found.flash_bytes:,} bytes of flash")
    if found.ram_bytes is not None:
        sizes.append(f"{found.ram_bytes:,} bytes of RAM")
    if sizes:
        yield " · ".join(sizes)
    if found.cycles is not None:
        yield " · ".join(_speed(found))
    yield f"compiled by {found.compiler} {found.compiler_version}"


def _speed(found: "Certificate") -> Iterator[str]:
    yield f"{found.cycles:,.0f} {found.counts} a prediction, at most {found.worst_cycles:,}"
    if found.milliseconds is not None:
        about = "" if found.counts == "cycles" else "about "
        yield f"{about}{found.milliseconds:.3g} ms"
    if found.microjoules is not None:
        yield f"an estimated {found.microjoules:.3g} µJ"

"""`smidgen export`: a model as C, or as an Arduino library. Imports jobs/export when it is called."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from smidgen.cli.frame import Screen


class To(StrEnum):
    """What to write."""

    c = "c"
    arduino = "arduino"


ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="The model's file, as in gestures.smg.")]
OutOption = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="The folder to write into.")]
ToOption = Annotated[To, typer.Option("--to", help="A header and a source, or an Arduino library.")]
NameOption = Annotated[str, typer.Option("--name", metavar="NAME", help="The prefix of every name in the C.")]
HeaderOption = Annotated[bool, typer.Option("--header-only", help="One header in place of two files.")]
RowsOption = Annotated[
    Path | None, typer.Option("--rows", metavar="DATA", help="A table, for the Arduino library's self-test.")
]
TargetOption = Annotated[
    str | None, typer.Option("--target", metavar="COL", help="The column of --rows that is no feature.")
]


def export(
    screen: Screen,
    model: ModelArgument,
    out: OutOption,
    *,
    to: ToOption = To.c,
    name: NameOption = "model",
    header_only: HeaderOption = False,
    rows: RowsOption = None,
    target: TargetOption = None,
) -> None:
    """Write a model as C, or as an Arduino library."""
    from smidgen.jobs.export import run_export

    result = run_export(model, out, to.value, name=name, header_only=header_only, rows=rows, target=target)
    what = "the Arduino library" if to is To.arduino else "the C"
    screen.result(
        result.as_json(),
        f"{result.folder} holds {what}: {', '.join(result.files)}",
        f"{result.model_bytes:,} bytes of constants · {result.ram_bytes:,} bytes of RAM and the stack",
    )

"""A fitted estimator of smidgen behind transformers → its Program, with the transformers merged into the Input.

May import `smidgen.convert.pipeline` and `smidgen.program`.
"""

from dataclasses import replace

import numpy as np

from smidgen.convert.pipeline import Before
from smidgen.errors import UsageError
from smidgen.program import Distance, Input, Linear, Matrix, Program
from smidgen.program.program import Step
from smidgen.program.scaling import affine_input, byte_steps


def merged_steps(before: Before, program: Program, raw: str | None) -> list[Step]:
    """The steps of the estimator's Program, from raw numbers on."""
    if before.does_nothing:
        return list(program.steps)
    if program.input.missing is not None or program.input.codes is not None:
        raise UsageError("an Input with missing values or codes of its own takes no transformer before it")
    if program.arithmetic == "float32":
        before = before.scaled(program.input.offset, program.input.multiplier)
        first = program.steps[1] if before.projections else _widened(program.steps[1], before)
        return [*before.steps(), first, *program.steps[2:]]
    if before.projections:
        raise UsageError(
            "a projection before an estimator that was fitted in integers cannot be merged into its Input: "
            'fit it with weight_format="float32", and give to_program calibration rows'
        )
    return [_merged_input(before, program.input, raw), _widened(program.steps[1], before), *program.steps[2:]]


def _merged_input(before: Before, own: Input, raw: str | None) -> Input:
    """The Input to bytes that makes of raw numbers what the estimator's own makes of transformed ones."""
    start, step, _ = byte_steps(own)
    offset, factor = before.offset.copy(), np.zeros(len(before.offset))  # 0 for what is left out
    multiplier = before.multiplier[before.columns]
    offset[before.columns] += start / multiplier
    factor[before.columns] = multiplier / step
    sensor = raw or (own.raw if before.only_selects else "float32")
    merged = affine_input(sensor, offset, factor)
    if before.fill is None:
        return merged
    fill = before.spread(own.run(before.fill[None, before.columns]))[0]
    return replace(merged, missing="nan", fill=fill.astype(np.uint8))


def _widened(step: Step, before: Before) -> Step:
    """The first step behind the Input, with columns for all raw features; those that are left out give 0."""
    if isinstance(step, Linear):
        return replace(step, weights=Matrix.pack(before.spread(step.weights.values), step.weights.format))
    assert isinstance(step, Distance)
    values, absent = step.points.values, 0
    if not step.is_float:
        absent = max(-(step.zero >> step.shift), -128 if step.points.format == "int8" else -8)
        if (
            step.kernel is not None
            and step.zero + (absent << step.shift) != 0
            and len(before.columns) != len(before.offset)
        ):
            raise UsageError("features that are left out cannot stand before a Gaussian whose points never are 0")
    return replace(step, points=Matrix.pack(before.spread(values, absent), step.points.format, "dense"))

"""A model written by hand, and the Program it must equal: what the tests of a board compare without the emitter.

`VARIANTS` are the same model with one defect each.
"""

import numpy as np

from smidgen.program import Decide, Input, Linear, Matrix, Program

WEIGHTS = np.array([[3, -2, 1, 0], [-1, 4, 0, 2], [2, 2, -3, 1]])
N_CONSTANTS = 12


def program(raw: str = "uint8") -> Program:
    """Three scores of four numbers: int8 weights, dense, and nothing else."""
    return Program(
        (Input(raw, 4), Linear(Matrix.pack(WEIGHTS, "int8", "dense")), Decide("argmax")), classes=("a", "b", "c")
    )


def rows(n: int = 7, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (n, 4)).astype(np.uint8)


HEADER = """#ifndef NAME_H
#define NAME_H
#include <stdint.h>
#define NAME_N_FEATURES 4
#define NAME_N_SCORES 3
typedef uint8_t NAME_input_t;
typedef int32_t NAME_score_t;
void NAME_scores(const NAME_input_t *x, NAME_score_t *scores);
uint8_t NAME_predict(const NAME_input_t *x);
#endif
"""
SOURCE = """#include "NAME.h"
#if defined(__AVR__)
#include <avr/pgmspace.h>
#define NAME_FLASH __attribute__((section(".progmem.smidgen.NAME")))
#define NAME_AT(p) ((int8_t)pgm_read_byte(p))
#else
#define NAME_FLASH __attribute__((section(".rodata.smidgen.NAME")))
#define NAME_AT(p) (*(p))
#endif
static const int8_t NAME_weights[12] NAME_FLASH = {WEIGHTS};
void NAME_scores(const NAME_input_t *x, NAME_score_t *scores)
{
    uint8_t i, j;
    for (i = 0; i < 3; i++) {
        int16_t sum = 0;
        for (j = 0; j < 4; j++) sum = (int16_t)(sum + NAME_AT(NAME_weights + 4 * i + j) * (int16_t)x[j]);
        scores[i] = sum;
    }
}
uint8_t NAME_predict(const NAME_input_t *x)
{
    NAME_score_t scores[3];
    uint8_t best = 0, i;
    NAME_scores(x, scores);
    for (i = 1; i < 3; i++) if (scores[i] > scores[best]) best = i;
    return best;
}
"""

# what stands in the source → what stands there instead
VARIANTS = {
    "a wrong score": ("scores[i] = sum;", "scores[i] = sum + (x[0] > 200);"),
    "a wrong class": ("return best;", "return (uint8_t)(best + (x[0] > 200));"),
    "another tie rule": ("scores[i] > scores[best]", "scores[i] >= scores[best]"),
    "for ever": ("uint8_t best = 0, i;", "uint8_t best = 0, i; volatile uint8_t stuck = 1; while (stuck) { }"),
    "out of memory": ("scores[i] = sum;", "*(volatile uint8_t *)(x + 40000u) = 1; scores[i] = sum;"),
    "far away": ("scores[i] = sum;", "*(volatile uint8_t *)(uintptr_t)0x50000000u = 1; scores[i] = sum;"),
    "over its input": ("scores[i] = sum;", "((uint8_t *)(uintptr_t)x)[1] = 77; scores[i] = sum;"),
    "beyond its scores": ("scores[i] = sum;", "scores[i] = sum; scores[3] = 1;"),
    "an overflow": (
        "int16_t sum = 0;",
        "int16_t sum = 0; int32_t big = 2147483647 - 255 + x[0] + x[1]; scores[0] = big;",
    ),
    "a warning": ("uint8_t best = 0, i;", "uint8_t best = 0, i; int unused;"),
    "no C": ("uint8_t best = 0, i;", "uint8_t best = 0, i; rubbish"),
    "no such function": ("return best;", "extern uint8_t nowhere_to_be_found(void); return nowhere_to_be_found();"),
    "one more constant": ("_weights[12] NAME_FLASH = {WEIGHTS}", "_weights[13] NAME_FLASH = {WEIGHTS, 1}"),
    "a deep stack": (
        "NAME_scores(x, scores);",
        "volatile uint8_t deep[3000]; deep[0] = x[0]; NAME_scores(x, scores + deep[0] - x[0]);",
    ),
    "much code": ("scores[i] = sum;", "scores[i] = sum; NAME_bulk();"),
}


def c_files(defect: str | None = None, name: str = "model") -> dict[str, str]:
    """The model's header and source, with a defect or without."""
    source = SOURCE
    if defect is not None:
        before, after = VARIANTS[defect]
        assert before in source
        source = source.replace(before, after)
    if defect == "much code":
        bulk = 'static __attribute__((noinline)) void NAME_bulk(void) { __asm__ volatile(".space 33000"); }\n'
        source = source.replace("void NAME_scores", bulk + "void NAME_scores", 1)
    weights = ", ".join(map(str, WEIGHTS.ravel()))
    return {
        f"{name}.h": HEADER.replace("NAME", name),
        f"{name}.c": source.replace("{WEIGHTS", "{" + weights).replace("NAME", name),
    }

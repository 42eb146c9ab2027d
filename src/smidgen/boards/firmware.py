"""The C around a model: a firmware to measure, an empty one beside it, and one that holds many models to compare.

Imports smidgen.program.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from smidgen.program import Program

_C_TYPES = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "uint16": "uint16_t", "int32": "int32_t"}
ROW, ANSWER, TURN = "smidgen_row", "smidgen_answer", "smidgen_turn"


@dataclass(frozen=True)
class Model:
    """A Program in C: the prefix of its names, and the types of what goes in and comes out."""

    name: str
    program: Program

    @property
    def row_type(self) -> np.dtype:
        """A raw number."""
        return np.dtype(self.program.input.raw)

    @property
    def row_bytes(self) -> int:
        """One row of raw numbers."""
        return self.row_type.itemsize * self.program.n_features

    @property
    def score_type(self) -> np.dtype:
        """One of the numbers that `NAME_scores` writes."""
        return np.dtype("int32" if self.program.arithmetic == "integer" else "float32")

    @property
    def score_bytes(self) -> int:
        """All that `NAME_scores` writes."""
        return self.score_type.itemsize * self.program.n_outputs

    @property
    def answer_type(self) -> np.dtype:
        """One of the numbers that `NAME_predict` gives: an index, an indicator, or a value."""
        if self.program.task == "multilabel":
            return np.dtype("uint8")
        if self.program.task == "regression":
            return self.score_type
        return np.dtype("uint8" if self.program.n_outputs <= 256 else "uint16")

    @property
    def n_answers(self) -> int:
        """How many numbers `NAME_predict` gives."""
        return 1 if self.program.task == "classification" else self.program.n_outputs

    @property
    def answer_bytes(self) -> int:
        """All that `NAME_predict` gives."""
        return self.answer_type.itemsize * self.n_answers

    @property
    def writes_answers(self) -> bool:
        """Whether `NAME_predict` writes its answers to a place, rather than returning one."""
        return self.program.task == "multilabel" or self.n_answers > 1

    def prediction(self, row: str, answer: str) -> str:
        """The C statement that predicts: `answer` is the place for an array, or what is assigned to."""
        if self.writes_answers:
            return f"{self.name}_predict({row}, {answer});"
        return f"{answer} = {self.name}_predict({row});"


def c_type(dtype: np.dtype) -> str:
    """Give the C name of a type.

    >>> c_type(np.dtype("int16"))
    'int16_t'
    """
    return _C_TYPES.get(dtype.name, "float")


def measured(model: Model) -> str:
    """The firmware that is measured: what a user's would hold, one row, one call, one answer."""
    include = f'#include "{model.name}.h"\n'
    answer = ANSWER if model.writes_answers else f"*(volatile {c_type(model.answer_type)} *){ANSWER}"
    return include + _frame(model, model.prediction(ROW, answer))


def empty(model: Model) -> str:
    """The same firmware without the model, from which its flash and RAM are counted."""
    return _frame(model, f"*(volatile uint8_t *){ANSWER} = *(const volatile uint8_t *){ROW};")


def _frame(model: Model, statement: str) -> str:
    return (
        "#include <stdint.h>\n"
        f"{c_type(model.row_type)} {ROW}[{model.program.n_features}];\n"
        f"{c_type(model.answer_type)} {ANSWER}[{model.n_answers}];\n"
        f"__attribute__((noinline)) void {TURN}(void) {{ {statement} }}\n"
        f"int main(void) {{ for (;;) {TURN}(); }}\n"
    )


def compared(models: Iterable[Model], *, sources: Sequence[str] = ()) -> str:
    """A firmware with two functions a model, `predict_NAME` and `scores_NAME`: from a row at one place to another.

    `sources` are C files to take in as they are, so that dozens of models are one compilation.
    """
    models = list(models)
    includes = [f'#include "{file}"\n' for file in (*(f"{model.name}.h" for model in models), *sources)]
    return "".join([*includes, *map(_functions, models)])


def _functions(model: Model) -> str:
    row = f"(const {c_type(model.row_type)} *)row"
    answer = f"({c_type(model.answer_type)} *)answer"
    statement = model.prediction(row, answer if model.writes_answers else f"*{answer}")
    scores = f"{model.name}_scores({row}, ({c_type(model.score_type)} *)answer);"
    return "".join(
        f"void {name}_{model.name}(const void *row, void *answer);\n"
        f"void {name}_{model.name}(const void *row, void *answer) {{ {body} }}\n"
        for name, body in (("predict", statement), ("scores", scores))
    )


def idle_main(functions: Iterable[str]) -> str:
    """The main of a firmware whose functions a simulator calls: it keeps them from being left out."""
    return (
        f"void (*const smidgen_all[])(const void *, void *) = {{{', '.join(functions)}}};\n"
        "volatile unsigned char smidgen_which;\n"
        "int main(void);\n"
        "int main(void) { for (;;) smidgen_all[smidgen_which](0, 0); }\n"
    )


def host_main(calls: Iterable[tuple[str, int, int, int]]) -> str:
    """The main of a program that calls functions itself: rows from one file, results to another.

    Each call is a function, the bytes of a row, the bytes of an answer, and how many rows. Rows and answers lie in
    memory of exactly their size, so that a sanitizer sees what leaves it.
    """
    table = "".join(f"    {{{name}, {row}, {answer}, {n}}},\n" for name, row, answer, n in calls)
    return f"{_HOST_HEAD}static const struct call calls[] = {{\n{table}}};\n{_HOST_TAIL}"


_HOST_HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct call { void (*function)(const void *row, void *answer); size_t row_bytes, answer_bytes, n_rows; };
"""
_HOST_TAIL = r"""static int make(const struct call *call, FILE *rows, FILE *results)
{
    uint32_t zero = 0, overwritten = 0;
    size_t i, done = 0;
    for (i = 0; i < call->n_rows; i++) {
        unsigned char *row = malloc(call->row_bytes), *copy = malloc(call->row_bytes);
        unsigned char *answer = malloc(call->answer_bytes);
        if (!row || !copy || !answer || fread(copy, 1, call->row_bytes, rows) != call->row_bytes) return 1;
        memcpy(row, copy, call->row_bytes);
        memset(answer, 0xA5, call->answer_bytes);
        call->function(row, answer);
        overwritten += memcmp(row, copy, call->row_bytes) != 0;
        done += fwrite(answer, 1, call->answer_bytes, results);
        free(row);
        free(copy);
        free(answer);
    }
    for (i = 0; i <= call->n_rows; i++) done += fwrite(&zero, 1, sizeof zero, results);
    done += fwrite(&overwritten, 1, sizeof overwritten, results);
    return done != call->n_rows * call->answer_bytes + (call->n_rows + 2) * 4;
}

int main(int count, char **arguments)
{
    FILE *rows, *results;
    size_t i;
    if (count != 3) return 2;
    rows = fopen(arguments[1], "rb");
    results = fopen(arguments[2], "wb");
    if (!rows || !results) return 2;
    for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (make(&calls[i], rows, results)) return 3;
    return fclose(results) ? 4 : 0;
}
"""

"""Program → C99: one header and one source, or a header alone. Imports the Program and the rest of this room.

A source reads from top to bottom: the constants, the routines of runtime/ that are in use, a function a row of each
step, one a step that stores what it makes, and what hands out the scores and the answer. Everything is written with
names in `smidgen_`, which become the model's own at the very end.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import smidgen
from smidgen.emit.names import checked_name
from smidgen.emit.plan import RAW_CTYPES, Plan
from smidgen.emit.routines import Routine, called_from, in_types, named, runtime, used_routines
from smidgen.emit.steps import input_body
from smidgen.emit.text import comment, filled, float_literal, int_literal, string_literal
from smidgen.errors import UsageError
from smidgen.program import Program
from smidgen.program.checks import counted

EXTERN_C = ('#ifdef __cplusplus\nextern "C" {\n#endif', "#ifdef __cplusplus\n}\n#endif")
LARGEST_AVR_ARRAY = 32_767


def c_files(
    program: Program, name: str = "model", *, header_only: bool = False, class_names: bool = True
) -> dict[str, str]:
    """The C of a Program, file name → text; always the same text for the same Program.

    Parameters
    ----------
    program
        What the C computes, to the bit.
    name
        The prefix of every name in it, so that several models live in one firmware.
    header_only
        One header that holds everything, in place of a header, a source and AVR's assembly.
    class_names
        Whether the names of the classes are there, as `NAME_CLASSES`.

    Examples
    --------
    >>> from smidgen.program import Decide, Input, Linear, Matrix
    >>> weights = Matrix.pack([[1, -2], [0, 3]], "int4")
    >>> program = Program((Input("uint8", 2), Linear(weights), Decide("argmax")), classes=("dark", "bright"))
    >>> files = c_files(program, "light")
    >>> list(files)
    ['light.h', 'light.c', 'light_avr.S']
    >>> "uint8_t light_predict(const light_input_t *x);" in files["light.h"]
    True
    """
    checked_name(name)
    if not isinstance(program, Program):
        raise UsageError(f"C is made of a Program, not of a {type(program).__name__}; to_program makes one of a model")
    plan = Plan(program)
    names = [str(label) for label in program.classes or ()] if class_names else []
    storage = "static " if header_only else ""
    header = [_types(plan), *_interface(plan), *_declared_class_names(names, storage)]
    source = [*_source(plan, assembly=not header_only), *_class_names(names, storage)]
    if header_only:
        texts = {f"{name}.h": [_info(plan), *_guarded([_inline("\n\n".join([*header, *source]))])]}
    else:
        texts = {
            f"{name}.h": [_info(plan), *_guarded(header)],
            f"{name}.c": [_info(plan), f'#include "{name}.h"', *source],
        }
        if assembly := list(_assembly(plan)):
            texts[f"{name}_avr.S"] = [_info(plan), *assembly]
    return {file: named("\n\n".join(text) + "\n", name) for file, text in texts.items()}


def write_c(
    program: Program,
    folder: str | os.PathLike[str],
    name: str = "model",
    *,
    header_only: bool = False,
    class_names: bool = True,
) -> list[Path]:
    """Write the C of a Program into a folder, which is made if need be; the parameters are those of `c_files`.

    Examples
    --------
    >>> from smidgen.program import Decide, Input, Linear, Matrix
    >>> program = Program((Input("uint8", 2), Linear(Matrix.pack([[1, -2]], "int4")), Decide("threshold")))
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_c(program, folder, "light")]
    ['light.h', 'light.c', 'light_avr.S']
    """
    return write_files(folder, c_files(program, name, header_only=header_only, class_names=class_names))


def write_files(folder: str | os.PathLike[str], files: dict[str, str]) -> list[Path]:
    """Write texts under a folder; each whole or not at all."""
    paths = []
    for file, text in files.items():
        path = Path(folder) / file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.part")
            part.write_text(text, encoding="utf-8", newline="\n")
            part.replace(path)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from None
        paths.append(path)
    return paths


# The header.


def _info(plan: Plan) -> str:
    program, cost = plan.program, plan.program.cost()
    return comment(
        [
            f"smidgen_INFO: a model in C99, written by smidgen {smidgen.__version__}. Do not edit it: write it again.",
            "",
            f"model hash  {program.hash}",
            f"constants   {counted(cost.model_bytes, 'byte')}, all in one section",
            f"RAM         {counted(cost.ram_bytes, 'byte')} with the row itself, and the stack",
            "",
            *program.describe().replace("→", "->").split("\n")[:-1],
            "",
            "Licence: this file is yours, to use as you like, with no condition and no warranty.",
        ]
    )


def _guarded(body: list[str]) -> Iterator[str]:
    yield "#ifndef SMIDGEN_NAME_H\n#define SMIDGEN_NAME_H"
    yield "#include <stdint.h>"
    yield EXTERN_C[0]
    yield from body
    yield f"{EXTERN_C[1]}\n\n#endif"


def _types(plan: Plan) -> str:
    program = plan.program
    return "\n".join(
        [
            f"#define smidgen_N_FEATURES {program.n_features}",
            f"#define smidgen_N_SCORES {program.n_outputs}",
            f"typedef {RAW_CTYPES[program.input.raw]} smidgen_input_t;",
            f"typedef {plan.score_type} smidgen_score_t;",
        ]
    )


def _interface(plan: Plan) -> Iterator[str]:
    row, decide = "const smidgen_input_t *x", plan.program.decide
    what = decide.describe()
    yield (
        "/* The raw scores of a row of smidgen_N_FEATURES numbers: smidgen_N_SCORES of them. */\n"
        f"void smidgen_scores({row}, smidgen_score_t *scores);"
    )
    if plan.program.task == "classification":
        yield f"/* The class of a row, by its index: {what}. */\n{plan.class_type} smidgen_predict({row});"
    elif plan.program.task == "multilabel":
        yield (
            f"/* {what[0].upper()}{what[1:]}: smidgen_N_SCORES bytes, 1 for a label that is on, else 0. */\n"
            f"void smidgen_predict({row}, uint8_t *labels);"
        )
    elif plan.program.n_outputs == 1:
        scale = "" if decide.scale is None else f"\n#define smidgen_SCALE {float_literal(decide.scale[0])}"
        yield (
            "/* The value of a row, as its raw score, and in the target's units. */\n"
            f"smidgen_score_t smidgen_predict({row});\nfloat smidgen_predict_value({row});{scale}"
        )
    else:
        yield (
            "/* The smidgen_N_SCORES values of a row, as its raw scores, and in the target's units. */\n"
            f"void smidgen_predict({row}, smidgen_score_t *y);\nvoid smidgen_predict_values({row}, float *y);"
        )


# The source.


def _source(plan: Plan, *, assembly: bool) -> Iterator[str]:
    code, types = _code(plan), _type_words(plan)
    yield runtime("memory.h").rstrip()
    for constant in plan.constants:
        yield constant.text()
    if any(constant.n_bytes > LARGEST_AVR_ARRAY for constant in plan.constants):
        yield "#if defined(__AVR__)\n#error this model has an array that is too large for AVR\n#endif"
    if plan.program.arithmetic == "float32":
        yield "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif"
    yield "\n".join(_structures(plan))
    routines = used_routines(code, types, plan.own_routines)
    yield from _routines(routines, in_types(code, types)) if assembly else (routine.c for routine in routines)
    yield in_types(code, types)


def _code(plan: Plan) -> str:
    """What calls the routines."""
    return "\n\n".join([*_rows(plan), *_steps(plan), *_ending(plan)])


def _routines(routines: list[Routine], code: str) -> Iterator[str]:
    """Those that are always needed, then those that stand in assembly on AVR, with all that they alone need in C."""
    needed = called_from(code, routines)
    always = [routine for routine in routines if routine.name in needed and not routine.assembly]
    others = [routine for routine in routines if routine not in always]
    yield from (routine.c for routine in always)
    if others:
        declared = "\n".join(routine.announced for routine in others if routine.assembly)
        portable = "\n\n".join(routine.c for routine in others)
        yield f"#if smidgen_ASSEMBLY\n{EXTERN_C[0]}\n{declared}\n{EXTERN_C[1]}\n#else\n\n{portable}\n\n#endif"


def _assembly(plan: Plan) -> Iterator[str]:
    """The assembly of what is in use; nothing where none of it is."""
    routines = used_routines(_code(plan), _type_words(plan), plan.own_routines)
    if any(routine.assembly for routine in routines):
        yield "#if defined(__AVR_HAVE_MUL__) && !defined(SMIDGEN_PORTABLE)"
        yield from (routine.assembly for routine in routines if routine.assembly)
        yield "#endif"


def _type_words(plan: Plan) -> dict[str, str]:
    """What stands for the types in runtime/ that depend on the Program."""
    counts = "uint8" if plan.group is None else plan.group.counts.dtype.name
    return {
        "value_t": plan.value_type,
        "class_t": plan.class_type,
        "index_t": "uint8_t" if plan.program.n_outputs < 256 else "uint16_t",
        "count_t": f"{counts}_t",
        "smidgen_read_count": f"smidgen_read{counts.removeprefix('uint')}",
    }


def _structures(plan: Plan) -> Iterator[str]:
    members = {"bytes": "const uint8_t *bytes;", "floats": "const float *floats;"}
    yield "/* Where a step's next constants stand. */\ntypedef struct {"
    yield from (f"    {members[member]}" for member in plan.start_of(plan.last))
    yield "} smidgen_at_t;\n"
    yield "/* A row on its way: the last step's next constants, what it reads, the memory of those before it. */"
    yield "typedef struct {\n    smidgen_at_t at;"
    yield f"    const {plan.output_type(plan.last - 1)} *values;"
    if plan.scratch_bytes:
        yield f"    {plan.scratch_type} scratch[{plan.scratch_bytes // (4 if plan.scratch_type == 'float' else 1)}];"
    yield "} smidgen_run_t;"


def _rows(plan: Plan) -> Iterator[str]:
    """A function a row of each step that computes."""
    for index, producer in plan.producers.items():
        if producer.whole is not None:
            continue
        takes, gives = plan.output_type(index - 1), plan.output_type(index)
        yield _function(f"static {gives} smidgen_row_{index}(const {takes} *x, smidgen_at_t *at)", producer.body)


def _steps(plan: Plan) -> Iterator[str]:
    """A function a step that stores what it makes."""
    for store in plan.stores:
        index, body = store.index, []
        if index and plan.producers[index].whole is not None:
            head = f"static void smidgen_step_{index}(const {plan.output_type(index - 1)} *x, uint8_t *y)"
            yield _function(head, plan.producers[index].body)
            continue
        if index == 0:
            source, n = "smidgen_input_t", plan.program.n_features
            lines = input_body(plan.program.input)
        else:
            source, n = plan.output_type(index - 1), plan.program.signals[index].width
            bits = plan.program.signals[index].kind == "bits"
            row = f"smidgen_row_{index}(x, &at)"
            lines = [f"smidgen_put_bit(y, i, {row});" if bits else f"y[i] = {row};"]
            body = ["smidgen_at_t at;"]
        body += [f"{'uint8_t' if n < 256 else 'uint16_t'} i;"]
        body += [f"at.{member} = {start};" for member, start in plan.start_of(index).items() if index]
        body += [f"for (i = 0; i < {n}; ++i) {{"]
        body += [*(f"    {line}" for line in lines), "}"]
        yield _function(f"static void smidgen_step_{index}(const {source} *x, {plan.output_type(index)} *y)", body)


def _ending(plan: Plan) -> Iterator[str]:
    """From a row to its scores and its answer."""
    values = plan.stores[-1].target if plan.stores else "x"
    body = [f"smidgen_step_{store.index}({store.source}, {store.target});" for store in plan.stores]
    body += [f"run->values = {values};"]
    body += [f"run->at.{member} = {start};" for member, start in plan.start_of(plan.last).items()]
    yield _function("static void smidgen_begin(smidgen_run_t *run, const smidgen_input_t *x)", body)
    one = "smidgen_next" if plan.group is None else "smidgen_entry"
    body = [f"return smidgen_row_{plan.last}(run->values, &run->at);"]
    yield _function(f"static value_t {one}(smidgen_run_t *run)", body)
    if plan.group is not None:
        if plan.group.floor is not None:
            number = float_literal if plan.value_type == "float" else int_literal
            yield f"#define smidgen_FLOOR {number(plan.group.floor)}"
        yield runtime(f"group_{plan.group.operation if plan.group.floor is None else 'floor'}.c").rstrip()
    yield runtime("decide_scores.c").rstrip()
    yield from _predict(plan)


def _predict(plan: Plan) -> Iterator[str]:
    decide, ending = plan.program.decide, plan.program.decide.kind
    if ending == "best":
        yield f"#define smidgen_K {decide.k}"
    if ending == "value":
        yield f"#define smidgen_UNIT(i) {'1.0f' if decide.scale is None else 'smidgen_F32(smidgen_unit + (i))'}"
        ending = "value" if plan.program.n_outputs == 1 else "values"
    yield runtime(f"decide_{ending}.c").rstrip()


def _function(head: str, body: list[str]) -> str:
    lines = "\n".join(f"    {line}" for line in body)
    return f"{head}\n{{\n{lines}\n}}"


# A header alone, and the names of the classes.


def _inline(code: str) -> str:
    """Every function, and what announces it, as `static inline`."""
    code = re.sub(r"^(?:static )?(?=[^\n#]*\)\n\{)", "static inline ", code, flags=re.MULTILINE)
    return re.sub(r"^(?=\w+ smidgen_\w+\(.*\);$)", "static inline ", code, flags=re.MULTILINE)


def _declared_class_names(names: list[str], storage: str) -> Iterator[str]:
    if names:
        if not storage:
            yield f"extern const char *const smidgen_CLASSES[{len(names)}];"
        yield runtime("class.h").rstrip()


def _class_names(names: list[str], storage: str) -> Iterator[str]:
    """An array of the names; `storage` is `static ` in a header."""
    if names:
        yield runtime("classes.h").rstrip()
        # no name may be taken for the prefix
        words = [string_literal(name).replace("smidgen_", "smidgen\\137") for name in names]
        yield "\n".join(
            f"static const char smidgen_class_{index}[] smidgen_NAMES = {word};" for index, word in enumerate(words)
        )
        listed = filled([f"smidgen_class_{index}," for index in range(len(names))])
        yield f"{storage}const char *const smidgen_CLASSES[{len(names)}] smidgen_NAMES = {{\n{listed}\n}};"

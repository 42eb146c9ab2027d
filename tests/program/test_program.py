"""Program: what may follow what, what is proved, and that rows mean the same however they come."""

import dataclasses
import inspect

import numpy as np
import pytest
import scipy.sparse

from smidgen.errors import DataError, ProgramError
from smidgen.program import (
    Decide,
    Distance,
    Gaussian,
    GroupReduce,
    Input,
    Linear,
    Matrix,
    Program,
    Rescale,
    load_program,
)
from smidgen.program.program import STEPS
from smidgen.program.signal import Signal
from tests.program.random_programs import FAMILIES, random_float_program, random_program, random_rows

SEEDED = [pytest.param(seed, family, id=family) for seed, family in enumerate(FAMILIES)]
every_family = pytest.mark.parametrize(("seed", "family"), SEEDED)


def u8(*values):
    return np.array(values, np.uint8)


INPUT = Input("uint8", 2)
SCORES = Linear(Matrix.pack([[1, 2], [-1, 3]], "int8"))
BYTES = Linear(Matrix.pack([[1, 2], [-1, 3]], "int8"), rescale=Rescale(1, 0))
BITS = Linear(Matrix.pack([[1, 2], [-1, 3]], "int8"), activation="sign")
DISTANCES = Distance(Matrix.pack([[1, 2], [-1, 3]], "int8", "dense"))
HAMMING = Distance(Matrix.pack([[1, 0], [0, 1]], "bits"), metric="hamming")
GROUPS = GroupReduce(u8(1, 1), "max")
FLOAT_INPUT = Input("float32", 2, "float32")
FLOAT_SCORES = Linear(Matrix.pack([[1.0, 2.0], [-1.0, 3.0]], "float32"))
ARGMAX = Decide("argmax")


# The five steps.


@pytest.mark.parametrize("step", STEPS)
def test_a_step_has_all_its_parts(step):
    for part in ("check", "run", "constants", "multiply_accumulates", "describe"):
        assert inspect.isfunction(getattr(step, part, None)), f"{step.__name__} lacks {part}"
        assert inspect.getdoc(getattr(step, part)), f"{step.__name__}.{part} lacks a docstring"
    assert inspect.signature(step.check).return_annotation is Signal
    assert ">>>" in step.__doc__, f"{step.__name__} shows no example"
    assert dataclasses.is_dataclass(step)
    assert step.__dataclass_params__.frozen
    assert inspect.getdoc(inspect.getmodule(step))


@pytest.mark.parametrize("step", STEPS)
def test_a_step_proves_its_bounds(step):
    """Whatever follows the Input of an integer Program hands on bounds; each kind of step was seen doing so."""
    seen = 0
    for number in range(70):
        program = random_program(np.random.default_rng(number), FAMILIES[number % len(FAMILIES)])
        for made, signal in zip(program.steps, program.signals, strict=True):
            if isinstance(made, step):
                assert signal.range is not None
                assert signal.range.low.shape == signal.range.high.shape == (signal.width,)
                assert (signal.range.low <= signal.range.high).all()
                seen += 1
    assert seen > 10


def test_there_are_five_steps_and_each_has_a_file():
    assert [step.__name__ for step in STEPS] == ["Input", "Linear", "Distance", "GroupReduce", "Decide"]
    assert len({step.__module__ for step in STEPS}) == 5


# What may follow what.


@pytest.mark.parametrize(
    "steps",
    [
        (INPUT, SCORES, ARGMAX),
        (INPUT, SCORES, GROUPS, ARGMAX),
        (INPUT, BYTES, SCORES, ARGMAX),
        (INPUT, BYTES, BYTES, DISTANCES, Decide("argmin")),
        (INPUT, BITS, HAMMING, Decide("argmin")),
        (INPUT, DISTANCES, Decide("argmin")),
        (FLOAT_INPUT, FLOAT_SCORES, FLOAT_SCORES, GROUPS, ARGMAX),
    ],
)
def test_these_orders_are_programs(steps):
    assert Program(steps).run([[1, 2]]).prediction.shape == (1,)


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ((), "needs an Input, a step that computes, and a Decide"),
        ((INPUT, ARGMAX), "needs an Input, a step that computes"),
        ((INPUT, SCORES), "needs an Input, a step that computes"),
        ((SCORES, SCORES, ARGMAX), "one Input, its first step"),
        ((INPUT, INPUT, SCORES, ARGMAX), "one Input, its first step"),
        ((FLOAT_INPUT, GROUPS, ARGMAX), "second step is a Linear or a Distance"),
        ((INPUT, SCORES, GROUPS), "one Decide, its last step"),
        ((INPUT, ARGMAX, SCORES, ARGMAX), "one Decide, its last step"),
        ((INPUT, SCORES, GROUPS, SCORES, ARGMAX), "at most one GroupReduce"),
        ((INPUT, SCORES, GROUPS, GROUPS, ARGMAX), "at most one GroupReduce"),
        ((INPUT, "Linear", ARGMAX), "step 1 is a str, which is no step"),
        ((INPUT, SCORES, SCORES, ARGMAX), "step 2: Linear with int8 weights takes bytes where 2 integers in"),
        ((INPUT, BYTES, ARGMAX), "step 2: Decide takes integers or float32 where 2 bytes"),
        ((INPUT, BITS, ARGMAX), "step 2: Decide takes integers or float32 where 2 bits"),
        ((INPUT, BITS, SCORES, ARGMAX), "step 2: Linear with int8 weights takes bytes where 2 bits"),
        ((INPUT, BITS, DISTANCES, ARGMAX), "step 2: Distance to int8 points takes bytes where 2 bits"),
        ((INPUT, BYTES, HAMMING, ARGMAX), "step 2: Distance to bits points takes bits where 2 bytes"),
        ((INPUT, DISTANCES, SCORES, ARGMAX), "step 2: Linear with int8 weights takes bytes where 2 integers"),
        ((INPUT, BYTES, GROUPS, ARGMAX), "step 2: GroupReduce takes integers or float32 where 2 bytes"),
        ((FLOAT_INPUT, SCORES, ARGMAX), "step 1: Linear with int8 weights takes bytes where 2 float32 values"),
        ((INPUT, FLOAT_SCORES, ARGMAX), "step 1: Linear with float32 weights takes float32 where 2 bytes"),
        ((Input("uint8", 3), SCORES, ARGMAX), "step 1: Linear with int8 weights takes 2 values where 3 come in"),
        ((INPUT, SCORES, GroupReduce(u8(1, 2), "max"), ARGMAX), "step 2: GroupReduce takes 3 values where 2 come in"),
        ((INPUT, SCORES, Decide("threshold")), "step 2: Decide's threshold takes a single score"),
    ],
)
def test_these_orders_are_refused(steps, sentence):
    with pytest.raises(ProgramError, match=sentence):
        Program(steps)


@pytest.mark.parametrize("taken_by", [(ARGMAX,), (GROUPS, ARGMAX)])
@pytest.mark.parametrize(
    "producer",
    [dataclasses.replace(FLOAT_SCORES, activation="relu"), Distance(FLOAT_SCORES.weights, kernel=0.5)],
)
def test_what_integers_cannot_hand_to_a_consumer_float32_values_cannot_either(producer, taken_by):
    with pytest.raises(ProgramError, match=r"step 2: .* takes plain sums or distances, and step 1 makes a relu or a"):
        Program((FLOAT_INPUT, producer, *taken_by))
    Program((FLOAT_INPUT, producer, FLOAT_SCORES, *taken_by))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((5,), "a Program's steps are 5; they must be a list"),
        (("steps",), "a Program's steps are 'steps'; they must be a list"),
        (((INPUT, SCORES, ARGMAX), 5), "a Program's classes are 5; they must be a list"),
        (((INPUT, SCORES, ARGMAX), "ab"), "a Program's classes are 'ab'; they must be a list"),
        (((INPUT, SCORES, ARGMAX), None, 7), "a Program's feature names are 7; they must be a list"),
    ],
)
def test_what_is_no_list_is_refused(arguments, sentence):
    with pytest.raises(ProgramError, match=sentence):
        Program(*arguments)


def test_names_may_be_numpys(tmp_path):
    steps = (INPUT, SCORES, ARGMAX)
    for names, plain in (
        (np.array(["b", "a"]), ("b", "a")),
        ((np.str_("b"), "a"), ("b", "a")),
        (np.array([3, 7]), (3, 7)),
        (np.array([True, False]), (True, False)),
        ((np.float32(0.5), np.float64(2)), (0.5, 2.0)),
    ):
        program = Program(steps, classes=names)
        assert program.classes == plain
        assert [type(name) for name in program.classes] == [type(name) for name in plain]
        program.save(tmp_path / "named.smg")
        assert load_program(tmp_path / "named.smg").classes == plain


def test_it_is_one_line_in_a_prompt():
    program = Program((INPUT, SCORES, ARGMAX))
    assert repr(program) == "Program(Input → Linear → Decide, integer, 4 bytes of constants)"


# Tables that are not plain arrays.


def test_a_masked_entry_is_a_missing_one():
    rows = np.array([[1, 2], [3, 4]])
    program = Program((INPUT, SCORES, ARGMAX))
    unmasked = np.ma.array(rows, mask=False)
    assert program.scores(unmasked).tolist() == program.scores(rows).tolist()
    masked = np.ma.array(rows, mask=[[0, 0], [0, 1]])
    with pytest.raises(DataError, match="row 1, feature 1 of X is missing; the Program knows no missing values"):
        program.run(masked)
    with pytest.raises(DataError, match="row 1, feature 1 of X is missing"):
        INPUT.run(masked)
    filled = Program((Input("uint8", 2, missing=255, fill=u8(9, 9)), SCORES, ARGMAX))
    assert filled.scores(masked).tolist() == filled.scores([[1, 2], [3, 9]]).tolist()


def test_a_data_frame_with_other_columns_is_refused():
    pandas = pytest.importorskip("pandas")
    program = Program((INPUT, SCORES, ARGMAX), feature_names=("heat", "light"))
    frame = pandas.DataFrame({"heat": [1], "light": [2]})
    assert program.scores(frame).tolist() == program.scores([[1, 2]]).tolist()
    with pytest.raises(DataError, match="column 0 of X is 'light' where the Program takes 'heat'"):
        program.scores(frame[["light", "heat"]])
    numbered = pandas.DataFrame([[1, 2]])  # no names, nothing to compare
    assert program.scores(numbered).tolist() == program.scores([[1, 2]]).tolist()


# Proofs: the step and the number are named.


def near_the_edge(bias):
    weights = Matrix.pack([[1, 0], [0, 1]], "int8", "dense")
    return Program((INPUT, Linear(weights, np.array([bias, 0], np.int32)), ARGMAX))


def test_a_sum_that_could_leave_32_bits_is_refused_and_one_just_inside_is_a_program():
    inside = near_the_edge(2**31 - 1 - 255)
    assert inside.scores([[255, 0]]).tolist() == [[2**31 - 1, 0]]
    with pytest.raises(ProgramError, match="step 1: Linear's sum can reach 2147483648, which no 32-bit"):
        near_the_edge(2**31 - 255)


def test_the_declared_range_is_what_the_proof_stands_on():
    weights = Matrix.pack([[1, 0], [0, 1]], "int8", "dense")
    scores = Linear(weights, np.array([2**31 - 1 - 16, 0], np.int32))
    Program((Input("uint8", 2, trusted_range=(0, 16)), scores, ARGMAX))
    with pytest.raises(ProgramError, match="step 1: Linear's sum can reach 2147483886"):
        Program((INPUT, scores, ARGMAX))
    # a later step stands on what the one before can give
    relu = Linear(weights, activation="relu", rescale=Rescale(1, 0, high=16))
    Program((INPUT, relu, scores, ARGMAX))
    with pytest.raises(ProgramError, match="step 2: Linear's sum can reach 2147483648"):
        Program((INPUT, dataclasses.replace(relu, rescale=Rescale(1, 0, high=17)), scores, ARGMAX))


@pytest.mark.parametrize(
    "ending", [Decide("threshold"), Decide("labels"), Decide("value", scale=np.ones(1, np.float32))]
)
def test_every_ending_is_proved_when_the_program_is_made(ending):
    scores = Linear(Matrix.pack([[1, 0]], "int8"), np.array([2**31 - 255], np.int32))
    with pytest.raises(ProgramError, match="step 1: Linear's sum can reach 2147483648"):
        Program((INPUT, scores, ending))


def test_a_shifted_sum_that_could_leave_int16_is_refused():
    linear = Linear(Matrix.pack([[127, 127]], "int8"), rescale=Rescale(1, 0, pre=0))
    with pytest.raises(
        ProgramError, match=r"step 1: Linear's sums lie in 0..64770, which shifted by pre = 0 leave int16"
    ):
        Program((INPUT, linear, linear, ARGMAX))


def test_a_floor_counts_among_the_scores():
    groups = GroupReduce(u8(1, 1), "max", floor=2**31 - 1)
    assert Program((INPUT, SCORES, groups, ARGMAX)).scores([[1, 1]]).tolist() == [[2**31 - 1] * 2]


# Rows mean the same however they come.


@every_family
@pytest.mark.parametrize("make", [random_program, random_float_program])
def test_batches_give_the_same_as_one_row_at_a_time(seed, family, make, monkeypatch):
    rng = np.random.default_rng(seed)
    program = make(rng, family)
    rows = random_rows(rng, program, 50)
    whole = program.run(rows)
    monkeypatch.setattr("smidgen.program.program.BATCH_VALUES", 1)  # batches of 16 rows
    batched = program.run(rows)
    single = [program.run(row[None, :]) for row in rows]
    exact = program.arithmetic == "integer"
    for scores in (batched.scores, np.concatenate([one.scores for one in single])):
        np.testing.assert_allclose(scores, whole.scores, rtol=0 if exact else 1e-12, atol=0 if exact else 1e-12)
    if exact:
        assert batched.prediction.tolist() == whole.prediction.tolist()
        assert [one.prediction.tolist()[0] for one in single] == whole.prediction.tolist()
    assert program.near_ties(rows).tolist() == [program.near_ties(row[None, :])[0] for row in rows]


def test_the_default_batches_cover_all_rows():
    rows = np.random.default_rng(0).integers(0, 256, (300_000, 2))
    program = Program((INPUT, SCORES, ARGMAX))
    assert (program.scores(rows) == rows @ np.array([[1, -1], [2, 3]])).all()


@pytest.mark.parametrize("sparse_format", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_rows_are_dense_rows(sparse_format):
    program = Program((INPUT, SCORES, ARGMAX))
    dense = np.array([[0, 7], [0, 0], [255, 0], [1, 1]])
    for make in (scipy.sparse.csr_matrix, scipy.sparse.csr_array):
        rows = make(dense).asformat(sparse_format)
        assert program.scores(rows).tolist() == program.scores(dense).tolist()
        assert [values.tolist() for values in program.trace(rows)] == [
            values.tolist() for values in program.trace(dense)
        ]
        assert program.near_ties(rows).tolist() == [False] * 4
    assert program.scores(scipy.sparse.csr_matrix((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64, np.float16, np.float32, np.float64, ">i2", ">f8"])
def test_any_dtype_of_numbers_will_do(dtype):
    program = Program((INPUT, SCORES, ARGMAX))
    assert program.scores(np.array([[3, 4], [250, 255]]).astype(dtype)).tolist() == [[11, 9], [760, 515]]
    assert program.scores(((3, 4), (250, 255))).tolist() == [[11, 9], [760, 515]]


@every_family
@pytest.mark.parametrize("make", [random_program, random_float_program])
def test_no_rows_give_no_answers_of_the_same_kind(seed, family, make):
    rng = np.random.default_rng(seed)
    program = make(rng, family)
    some, none = program.run(random_rows(rng, program, 5)), program.run(np.zeros((0, program.n_features)))
    assert none.scores.shape == (0, program.n_outputs)
    assert none.scores.dtype == some.scores.dtype
    assert none.prediction.shape == (0, *some.prediction.shape[1:])
    assert none.prediction.dtype == some.prediction.dtype
    assert program.predict(np.zeros((0, program.n_features))).shape[0] == 0
    assert program.near_ties(np.zeros((0, program.n_features))).shape == (0,)
    assert len(program.trace(np.zeros((0, program.n_features)))) == len(program.steps)


@every_family
def test_a_trace_shows_every_step(seed, family):
    rng = np.random.default_rng(seed)
    program = random_program(rng, family)
    rows = random_rows(rng, program, 30)
    trace, result = program.trace(rows), program.run(rows)
    for values, signal in zip(trace[:-1], program.signals[:-1], strict=True):
        assert values.shape == (30, signal.width)
        assert (values >= signal.range.low).all()
        assert (values <= signal.range.high).all()
    assert trace[-2].astype(np.int64).tolist() == result.scores.tolist()
    assert trace[-1].tolist() == result.prediction.tolist()


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ([[1, 2, 3]], r"X has shape \(1, 3\); the Program takes rows of 2 numbers"),
        (np.zeros((0, 3)), r"X has shape \(0, 3\)"),
        ([1, 2], r"X has shape \(2,\)"),
        (None, r"X has shape \(\)"),
        ([[1, 2], [1]], "X is no table of numbers"),
        ([["a", "b"]], "X has dtype <U1; the Program takes numbers"),
        ([[1, "b"]], "takes numbers"),
        (scipy.sparse.csr_matrix((1, 3)), r"X has shape \(1, 3\)"),
        ([[1, np.nan]], "row 0, feature 1 of X is missing"),
    ],
)
def test_rows_that_are_no_rows_are_refused(X, sentence):
    program = Program((INPUT, SCORES, ARGMAX))
    for use in (program.run, program.predict, program.trace):
        with pytest.raises(DataError, match=sentence):
            use(X)


def test_errors_name_the_row_of_the_whole_table():
    program = Program((Input("uint8", 2, trusted_range=(0, 16)), SCORES, ARGMAX))
    rows = np.zeros((200_000, 2))
    rows[170_001, 1] = 17
    with pytest.raises(DataError, match=r"row 170001, feature 1 of X is 17; the Program trusts in 0\.\.16"):
        program.run(rows)
    rows[160_002, 0] = np.nan
    with pytest.raises(DataError, match="row 160002, feature 0 of X is missing"):
        program.run(rows)


# Names, and what it says of itself.


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({"classes": ("a",)}, "there are 1 classes where 2 are needed"),
        ({"classes": ("a", "a")}, "two of the classes are the same"),
        ({"classes": (1, True)}, "different types"),
        ({"classes": ("1", 1)}, "different types"),
        ({"classes": (0.5, float("nan"))}, "no number or text"),
        ({"classes": (None, "a")}, "None among the classes is a NoneType"),
        ({"classes": np.array(["2020", "2021"], "M8[D]")}, "datetime64, which no file can hold"),
        ({"classes": (b"a", b"b")}, "bytes, which no file can hold"),
        ({"classes": ("a", "a\0")}, "no number or text"),
        ({"feature_names": ("x",)}, "there are 1 feature names where 2 are needed"),
        ({"feature_names": ("x", 3)}, "3 among the feature names is a int"),
        ({"feature_names": ("x", "x")}, "two of the feature names are the same"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, sentence):
    with pytest.raises(ProgramError, match=sentence):
        Program((INPUT, SCORES, ARGMAX), **names)


@pytest.mark.parametrize("classes", [("no", "yes"), (3, 5), (0.5, 1.5), (False, True), ("ü", "a much longer name")])
def test_predict_gives_names_of_their_own_type(classes):
    predicted = Program((INPUT, SCORES, ARGMAX), classes).predict([[3, 0], [0, 9]]).tolist()
    assert predicted == [classes[0], classes[1]]
    assert type(predicted[0]) is type(classes[0])


def test_a_threshold_has_two_classes_and_one_score():
    program = Program((INPUT, Linear(Matrix.pack([[1, -1]], "int8")), Decide("threshold")), ("below", "above"))
    assert program.n_outputs == 1
    assert program.predict([[5, 4], [4, 4]]).tolist() == ["above", "below"]


def test_a_program_cannot_be_changed():
    program = Program([INPUT, SCORES, ARGMAX], classes=["a", "b"])
    assert isinstance(program.steps, tuple)
    assert isinstance(program.classes, tuple)
    with pytest.raises(dataclasses.FrozenInstanceError):
        program.steps = ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        SCORES.bias = None
    bias = np.array([1, 2], np.int16)
    step = Linear(SCORES.weights, bias)
    bias[0] = 99  # the caller's array is the caller's
    assert step.bias.tolist() == [1, 2]
    for constants in (step.constants(), GROUPS.constants(), DISTANCES.constants()):
        for array in constants.values():
            assert not array.flags.writeable


def test_ram_counts_the_widest_pair_of_neighbours():
    """5 raw, 5 copied; 5 + 3, 3 + 7, 7 + 2 bytes meet: 10 is the most."""

    def layer(rows, columns):
        return Linear(Matrix.pack(np.ones((rows, columns)), "int4"), rescale=Rescale(1, 4))

    kernel = Distance(Matrix.pack(np.zeros((2, 7)), "int4", "dense"), kernel=Gaussian(u8(9, 0), 8))
    last = Linear(Matrix.pack(np.ones((3, 2)), "int4"))
    program = Program((Input("uint8", 5, shift=1), layer(3, 5), layer(7, 3), kernel, last, ARGMAX))
    assert [step.scratch_bytes for step in program.cost().steps] == [5, 3, 7, 2, 0, 0]
    assert program.cost().ram_bytes == 5 + 10
    int16 = Program((Input("int16", 5), layer(3, 5), layer(7, 3), kernel, last, ARGMAX))
    assert int16.cost().ram_bytes == 10 + 10


# What a board gets, and how far it may be off.


@pytest.mark.parametrize("seed", range(12))
def test_raw_rows_mean_the_same_and_are_the_sensors_own(seed: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(rng)
    rows = random_rows(rng, program, 15)
    if program.input.raw != "float32":
        rows = rows.astype(float)
        if program.input.trusted_range is None:
            rows[8:] += rng.uniform(-0.4, 0.4, rows[8:].shape)
            rows[12:] *= 300
        if program.input.missing is not None:
            rows[:, 0] = np.nan
    raw = program.raw_rows(rows)
    assert (raw.dtype, raw.shape) == (np.dtype(program.input.raw), rows.shape)
    np.testing.assert_array_equal(program.scores(raw), program.scores(rows))
    np.testing.assert_array_equal(program.raw_rows(raw), raw)
    assert program.raw_rows(rows[:0]).shape == (0, program.n_features)
    assert not program.tolerances(rows).any()


def test_tolerances_follow_the_terms() -> None:
    weights = Matrix.pack(np.array([[100.0, -100.0], [1.0, 0.0]], np.float32), "float32")
    program = Program((Input("float32", 2, output="float32"), Linear(weights), Decide("argmax")))
    # the first score cancels to 0, but its terms are 200 and 300
    np.testing.assert_allclose(program.tolerances([[1, 1], [1, 2]]), [[2e-2, 1e-4], [3e-2, 1e-4]])


def test_what_vanishes_in_float32_is_a_near_tie() -> None:
    points = Matrix.pack(np.array([[0.0], [1.0]], np.float32), "float32", "dense")
    scores = Matrix.pack(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32), "float32")
    steps = (Input("float32", 1, output="float32"), Distance(points, kernel=1.0), Linear(scores), Decide("argmax"))
    np.testing.assert_array_equal(Program(steps).near_ties([[0.0], [3.0], [20.0], [200.0]]), [False, False, True, True])

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

from smidgen.core.losses import LOSSES
from smidgen.errors import BudgetError, UsageError
from smidgen.models import scaling
from smidgen.models.fitting import (
    Choice,
    Settings,
    answers_of,
    closeness_of,
    n_scores,
    named_formats,
    score_of,
    start_outputs,
    steps_for,
    train_choice,
    train_further,
    training_targets,
)
from smidgen.program import Linear
from tests.models.training import FAMILIES, KINDS, TASKS, rows_of

every_family = pytest.mark.parametrize("family", FAMILIES)
every_task = pytest.mark.parametrize("task", TASKS)


def fit(family, rows, task, weight_format="int4", scaled=0, n_steps=60, **settings):
    family = FAMILIES[family]
    inputs = scaling.candidate_float_inputs if weight_format == "float32" else scaling.candidate_inputs
    choice = Choice(inputs(rows.X, rows.weight)[scaled], 0.1, family.formats(weight_format))
    loss = "squared" if task == "values" else "cross_entropy"
    settings = Settings(**{"budget": 400, "batch_size": 16, "loss": loss, **settings})
    return train_choice(family, rows, choice, settings, n_steps=n_steps), settings


def forward(fitted, X):
    """The scores that training computes for raw rows."""
    trained = fitted.trained
    x = fitted.choice.scaling.run(X).astype(np.float32)[:, trained.columns]
    return trained.model.forward(trained.weights, x, trained.units)[0]


@every_family
@every_task
@pytest.mark.parametrize("weight_format", ["int4", "int8"])
@pytest.mark.parametrize(("kind", "scaled"), [("uint8", 0), ("uint8", 1), ("int16", -1), ("float32", -1)])
def test_the_last_phase_computes_the_program_s_integers(family, task, weight_format, kind, scaled):
    rows = rows_of(task, kind)
    fitted, _ = fit(family, rows, task, weight_format, scaled)
    other = rows_of(task, kind, n=400, seed=1).X
    ours = forward(fitted, other) / fitted.unit
    board = fitted.program.run(other).scores
    assert board.dtype.kind == "i"
    assert np.ptp(board) > 10  # else the same for any row, and this would show nothing
    offset = np.rint(fitted.values.centre / fitted.values.deviation / fitted.unit)
    away = board - offset - ours
    if task != "values":
        np.testing.assert_allclose(away, 0, atol=0.2)  # of a whole number: ours are real ones, summed in float32
    else:  # a bias and a centre are rounded together on the board
        assert np.abs(away).max() < 1.2
        assert np.ptp(away, axis=0).max() < 0.2


@every_family
@every_task
@pytest.mark.parametrize("kind", KINDS)
def test_in_real_numbers_the_program_is_the_model_too(family, task, kind):
    rows = rows_of(task, kind)
    fitted, _ = fit(family, rows, task, "float32", budget=2000)
    board = fitted.program.run(rows.X).scores
    ours = forward(fitted, rows.X) * fitted.values.deviation + fitted.values.centre
    np.testing.assert_allclose(board, ours, atol=1e-3 * np.abs(ours).max())


@every_family
def test_what_is_fitted_is_what_is_stored(family):
    fitted, _ = fit(family, rows_of("classes"), "classes")
    weights, columns = fitted.trained.weights, fitted.trained.columns
    first, last = (step for step in (fitted.program.steps[1], fitted.program.steps[-2]) if isinstance(step, Linear))
    stored = first.weights.values
    np.testing.assert_array_equal(stored[:, columns], weights.whole["W"])
    assert not np.delete(stored, columns, axis=1).any()
    Z = weights.whole["Z"].T if family == "protonn" else weights.whole["Z"]
    np.testing.assert_array_equal(last.weights.values, Z)


@every_family
@every_task
def test_training_learns(family, task):
    rows = rows_of(task, n=120)
    fitted, _ = fit(family, rows, task, n_steps=300)
    if task == "labels":
        assert np.mean(fitted.program.run(rows.X).prediction == rows.y) > 0.95
    else:
        assert score_of(fitted.program, rows) > 0.9


@every_family
@pytest.mark.parametrize("weight_format", ["int4", "int8", "float32"])
def test_room_is_used_nearly(family, weight_format):
    rows = rows_of("classes", n=200, d=60)
    for budget in (400, 401, 700):
        fitted, _ = fit(family, rows, "classes", weight_format, budget=budget)
        # biases may come out narrower than the account allows for, and the Gaussian's table shorter
        spare = 2 * fitted.plan.width + 20 if family == "protonn" else 2 * fitted.plan.n_hidden + 2 * 3
        assert budget - spare <= fitted.program.cost().model_bytes <= budget


@every_family
def test_a_program_beyond_the_budget_is_refused(family, monkeypatch):
    monkeypatch.setattr("smidgen.program.Program.cost", lambda self: type("Cost", (), {"model_bytes": 401}))
    with pytest.raises(BudgetError, match="400 bytes: the model takes 401"):
        fit(family, rows_of("classes"), "classes")


@every_family
def test_further_rows_change_weights_and_nothing_else(family):
    rows, more = rows_of("classes", n=80), rows_of("classes", n=64, seed=0)
    fitted, settings = fit(family, rows, "classes")
    further = train_further(FAMILIES[family], fitted, more, settings)
    assert further.choice is fitted.choice
    assert further.plan is fitted.plan
    assert not np.array_equal(further.trained.parameters.theta, fitted.trained.parameters.theta)
    np.testing.assert_array_equal(further.trained.columns, fitted.trained.columns)
    for name, keep in fitted.trained.parameters.keep.items():
        np.testing.assert_array_equal(further.trained.parameters.keep[name], keep)
    again = train_further(FAMILIES[family], fitted, more, settings)
    assert again.program.hash == further.program.hash, "a training that went on left marks in what it went on from"
    assert further.program.cost().model_bytes <= 400


def test_steps_follow_the_square_root_of_the_rows():
    assert steps_for(1) == 400
    assert steps_for(4_000) == 6_000
    assert steps_for(16_000) == steps_for(10**9) == 12_000


def test_formats_by_name():
    names = ("projection", "outputs")
    assert named_formats("auto", names) == {"projection": "int4", "outputs": "int4"}
    assert named_formats({"outputs": "int8"}, names) == {"projection": "int4", "outputs": "int8"}
    assert named_formats({"outputs": "auto"}, names) == {"projection": "int4", "outputs": "int4"}
    with pytest.raises(UsageError, match="names 'labels': the matrices are projection, outputs"):
        named_formats({"labels": "int8"}, names)
    with pytest.raises(UsageError, match="has 'int5': a format is"):
        named_formats({"outputs": "int5"}, names)


def test_targets_of_every_task():
    assert training_targets(rows_of("binary"))[0].shape == (60, 1)
    assert training_targets(rows_of("classes"))[0].dtype == np.int64
    assert training_targets(rows_of("labels"))[0].shape == (60, 2)
    targets, values = training_targets(rows_of("values"))
    np.testing.assert_allclose(targets.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(targets.std(axis=0), 1, atol=1e-6)
    again, _ = training_targets(rows_of("values", seed=1), values)
    np.testing.assert_allclose(again * values.deviation + values.centre, rows_of("values", seed=1).y, rtol=1e-4)
    assert [n_scores(rows_of(task)) for task in TASKS] == [1, 3, 2, 2]


def test_scores_start_at_the_shares():
    rows = rows_of("classes", n=61)
    share = np.bincount(rows.y) / 61
    probability = np.exp(start_outputs(rows, 3))
    np.testing.assert_allclose(probability / probability.sum(), share, rtol=1e-6)
    binary = rows_of("binary")
    assert 1 / (1 + np.exp(-start_outputs(binary, 1)[0])) == pytest.approx(binary.y.mean(), rel=1e-6)
    labels = rows_of("labels")
    np.testing.assert_allclose(1 / (1 + np.exp(-start_outputs(labels, 2))), labels.y.mean(axis=0), rtol=1e-6)
    assert not start_outputs(rows_of("values"), 2).any()


def test_judged_as_scikit_learn_would(monkeypatch):
    monkeypatch.setattr("smidgen.models.fitting.SCORED_VALUES", 100)  # some rows at a time
    rows, held = rows_of("classes"), rows_of("classes", n=50, seed=0)
    fitted, _ = fit("protonn", rows, "classes")
    scores, prediction = answers_of(fitted.program, held)
    np.testing.assert_array_equal(prediction, fitted.program.run(held.X).prediction)
    assert score_of(fitted.program, held) == accuracy_score(held.y, prediction)
    loss = LOSSES["cross_entropy"](scores * fitted.unit, held.y, np.full(50, 1 / 50))[0]
    assert closeness_of(fitted, held, "cross_entropy") == pytest.approx(-loss)
    values = rows_of("values")
    fitted, _ = fit("protonn", values, "values")
    assert score_of(fitted.program, values) == pytest.approx(
        r2_score(values.y, fitted.program.run(values.X).prediction)
    )


@every_family
@every_task
def test_a_plan_counts_what_stands_before_and_behind_the_matrices(family, task):
    fitted, _ = fit(family, rows_of(task), task, scaled=-1, n_steps=1)
    first, *_, last = fitted.program.cost().steps
    assert fitted.plan.input_bytes == sum(first.constants.values()) + sum(last.constants.values())
    assert bool(last.constants) == (task == "values")

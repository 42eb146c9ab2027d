from dataclasses import replace

import array_api_strict
import numpy as np
import pytest

from smidgen.core.losses import cross_entropy
from smidgen.models.engine import N_LOOKS, PATIENCE, Recipe, _schedule, train
from smidgen.models.fitting import training_targets
from smidgen.models.parameters import Parameters
from tests.models.training import FAMILIES, TASKS, loss_of, pieces, rows_of, trained_briefly

every_family = pytest.mark.parametrize("family", FAMILIES)


def on_backend(model, feed, to):
    """A model and a feed of another library's arrays."""
    parts = {name: replace(part, start=to(part.start)) for name, part in model.parts.items()}
    projection = replace(model.projection, mean=to(model.projection.mean))
    rows = to(feed.rows)
    noise = None if feed.noise is None else to(feed.noise)
    model = replace(model, parts=parts, projection=projection)
    return model, replace(feed, rows=rows, mean=to(feed.mean), deviation=to(feed.deviation), noise=noise)


def fitted_on(to, family, rows, task, n_steps=24, whole_numbers=True):
    """Train on a backend, the order of the rows being NumPy's own."""
    _, _, feed, model = pieces(family, rows, noise=0.1)
    model, other = on_backend(model, feed, to)
    orders = [to(np.array(index)) for index in feed.batches(16, n_steps, 0)]
    object.__setattr__(other, "batches", lambda *_: iter(orders))
    targets = training_targets(rows)[0]
    recipe = Recipe(n_steps, 16, whole_numbers=whole_numbers)
    weight = to(rows.weight.astype(np.float32))
    return train(model, other, to(targets), weight, loss=loss_of(task), recipe=recipe)


def losses_of(trained):
    return [row["loss"] for row in trained.history]


@every_family
@pytest.mark.parametrize("task", TASKS)
def test_strict_array_api_gives_numpy_s_parameters(family, task):
    rows = rows_of(task)
    ours = fitted_on(lambda array: array, family, rows, task)
    theirs = fitted_on(array_api_strict.asarray, family, rows, task)
    np.testing.assert_allclose(np.asarray(theirs.parameters.theta), ours.parameters.theta, atol=1e-5)
    np.testing.assert_allclose(
        [row["loss"] for row in theirs.history], [row["loss"] for row in ours.history], atol=1e-5
    )


@pytest.mark.torch
@every_family
@pytest.mark.parametrize("task", TASKS)
def test_torch_gives_numpy_s_parameters(family, task):
    torch = pytest.importorskip("torch")
    rows = rows_of(task)
    # torch sums in another order, so here and there it rounds a weight to the next grid point: compared before that
    ours, theirs = (fitted_on(to, family, rows, task, whole_numbers=False) for to in (np.asarray, torch.asarray))
    np.testing.assert_allclose(theirs.parameters.theta.numpy(), ours.parameters.theta, atol=1e-3)
    whole = fitted_on(torch.asarray, family, rows, task)
    assert whole.units is not None
    np.testing.assert_allclose(losses_of(whole)[:3], losses_of(ours)[:3], rtol=1e-3)


@every_family
@pytest.mark.parametrize("task", TASKS)
def test_a_weight_of_two_is_a_row_given_twice(family, task):
    """A batch's gradient, at every phase; which rows a batch draws cannot know of weights."""
    rows = rows_of(task)
    _, _, trained = trained_briefly(family, rows, task)
    x = rows.X[:8, trained.columns].astype(np.float32)
    targets, twice = training_targets(rows)[0][:8], np.array([0, 0, 1, 2, 3, 3, 4, 5, 6, 7])
    weight = np.array([2, 1, 1, 2, 1, 1, 1, 1], np.float32)
    for rounded, units in ((False, None), (True, None), (True, trained.units)):
        parameters = replace(trained.parameters, rounded=rounded, units=units)
        value, gradient = parameters.gradient(x, targets, weight / 10, loss_of(task))
        value_twice, gradient_twice = parameters.gradient(
            x[twice], targets[twice], np.full(10, 0.1, np.float32), loss_of(task)
        )
        assert value == pytest.approx(value_twice, rel=1e-5)
        np.testing.assert_allclose(gradient, gradient_twice, atol=1e-5)


@every_family
def test_weights_weigh(family):
    """Of contradicting rows the heavier half is believed."""
    rows = rows_of("binary")
    doubled = replace(
        rows,
        X=np.concatenate([rows.X, rows.X]),
        y=np.concatenate([rows.y, 1 - rows.y]),
        weight=np.concatenate([np.full(60, 5.0), np.ones(60)]),
    )
    _, _, trained = trained_briefly(family, doubled, "binary", n_steps=200)
    scores = trained.model.forward(trained.weights, rows.X[:, trained.columns].astype(np.float32), trained.units)[0]
    assert np.mean((scores[:, 0] > 0) == rows.y) > 0.9


def test_the_schedule_rises_then_falls_to_nothing():
    heights = [_schedule(number, 1000) for number in range(1000)]
    assert heights[0] == pytest.approx(0.02)
    assert max(heights) == pytest.approx(1, abs=0.01)
    assert np.argmax(heights) in range(45, 55)
    assert (np.diff(heights[50:]) < 0).all()
    assert heights[-1] < 1e-5


@every_family
def test_phases_come_in_their_order(family, monkeypatch):
    seen = []
    true_update = Parameters.update

    def spy(self, gradient, schedule):
        n_kept = {name: int(np.sum(np.asarray(keep))) for name, keep in self.keep.items()}
        seen.append((self.rounded, self.settled, self.units is not None, n_kept["W"]))
        true_update(self, gradient, schedule)

    monkeypatch.setattr(Parameters, "update", spy)
    trained_briefly(family, rows_of("classes", d=60), "classes", n_steps=200)
    rounded, settled, whole, n_kept = map(np.array, zip(*seen, strict=True))
    assert (np.argmax(rounded), np.argmax(settled), np.argmax(whole)) == (80, 100, 140)
    assert rounded[80:].all()
    assert settled[100:].all()
    assert whole[140:].all()
    assert (n_kept[:20] == n_kept[0]).all()
    assert (np.diff(n_kept[:100]) <= 0).all()
    assert (n_kept[100:] == n_kept[100]).all()
    assert n_kept[100] < n_kept[0]


@every_family
def test_what_is_dropped_stays_zero_and_every_row_keeps_two(family):
    rows = rows_of("classes", d=60)
    _, _, trained = trained_briefly(family, rows, "classes", budget=200)
    keep = trained.parameters.keep["W"] > 0
    assert (keep.sum(axis=1) >= 2).all()
    assert not keep.all()
    assert not trained.weights.real["W"][~keep].any()
    assert keep.any(axis=0).all(), "a feature that no weight looks at is carried along"


@every_family
def test_constant_features_get_no_weight(family):
    rows = rows_of("classes")
    X = rows.X.copy()
    X[:, [1, 4]] = 77
    _, _, trained = trained_briefly(family, replace(rows, X=X), "classes")
    assert not set(trained.columns.tolist()) & {1, 4}


@every_family
def test_same_seed_same_parameters_another_seed_others(family):
    rows = rows_of("classes")
    one, two, three = (trained_briefly(family, rows, "classes", seed=seed)[2] for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.parameters.theta, two.parameters.theta)
    assert not np.array_equal(one.parameters.theta[:20], three.parameters.theta[:20])


@every_family
def test_history_has_a_row_an_epoch_and_falls(family):
    _, _, trained = trained_briefly(family, rows_of("classes", n=64), "classes", n_steps=202)
    assert [row["step"] for row in trained.history] == list(range(4, 204, 4))
    losses = [row["loss"] for row in trained.history]
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2


@every_family
@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_few_steps_end_in_their_final_form_too(family, n_steps):
    _, _, trained = trained_briefly(family, rows_of("classes", d=60), "classes", n_steps=n_steps)
    assert trained.parameters.settled
    assert trained.parameters.rounded
    assert trained.units is not None
    assert (trained.parameters.keep["W"] == 0).any()


@every_family
def test_early_stopping_keeps_the_best_and_stops(family):
    rows = rows_of("classes")
    _, _, feed, model = pieces(family, rows)
    scores, reached = iter([1.0, 3.0, 2.0, 2.0, 3.0, 1.0, 0.0, 9.0, 9.0]), []

    def validate(trained):
        reached.append(trained.parameters.theta.copy())
        return next(scores)

    targets, weight = training_targets(rows)[0], rows.weight.astype(np.float32)
    recipe = Recipe(200, 16, whole_numbers=True, validate=validate)
    trained = train(model, feed, targets, weight, loss=cross_entropy, recipe=recipe)
    assert len(reached) == 2 + PATIENCE
    np.testing.assert_array_equal(trained.parameters.theta, reached[1])
    assert trained.units is not None


@every_family
def test_no_validation_before_the_model_has_its_final_form(family):
    rows = rows_of("classes")
    _, _, feed, model = pieces(family, rows)
    forms = []

    def validate(trained):
        forms.append((trained.parameters.settled, trained.units is not None))
        return float(len(forms))

    targets, weight = training_targets(rows)[0], rows.weight.astype(np.float32)
    for whole in (True, False):
        forms.clear()
        train(model, feed, targets, weight, loss=cross_entropy, recipe=Recipe(N_LOOKS, 16, whole, 0, validate))
        assert set(forms) == {(True, whole)}
        assert len(forms) == (30 if whole else 50)

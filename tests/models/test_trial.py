import math

import numpy as np
import pytest

from smidgen.errors import BudgetError, UsageError
from smidgen.models import trial
from smidgen.models.fitting import Settings, steps_for
from smidgen.models.trial import NOISES, choose, fit_family
from tests.models.training import FAMILIES, rows_of

every_family = pytest.mark.parametrize("family", FAMILIES)


@pytest.fixture
def judged(monkeypatch):
    """Trainings that train nothing, each judged by a function of what was chosen; gives a log of the choices."""
    log = []

    def by(judge):
        def train(_family, rows, choice, _settings, *, n_steps, held=None):
            log.append((choice, len(rows.y), n_steps, None if held is None else len(held.y)))
            if judge(choice) is None:
                raise BudgetError("too much")
            return choice

        monkeypatch.setattr(trial, "train_choice", train)
        monkeypatch.setattr(trial, "closeness_of", lambda choice, _rows, _loss: judge(choice))
        return log

    return by


def settings(**options):
    return Settings(**{"budget": 1000, "seed": 0, **options})


@every_family
@pytest.mark.parametrize("best", NOISES)
def test_noise_is_climbed_to_its_best_from_either_side(family, best, judged):
    judged(lambda choice: -abs(math.log(choice.noise / best)))
    choice, log = choose(FAMILIES[family], rows_of("classes"), settings())
    assert choice.noise == best
    assert max(row["score"] for row in log) == 0


@every_family
def test_every_thing_is_decided_once_and_nothing_is_trained_twice(family, judged):
    def judge(choice):
        n_best = (choice.scaling.describe() == wanted) + (choice.knobs.get("width_factor") == 0.7)
        return n_best - choice.noise

    rows = rows_of("classes", "int16")
    wanted = trial._inputs(FAMILIES[family], rows, settings())[-1].describe()
    trained = judged(judge)
    choice, log = choose(FAMILIES[family], rows, settings())
    assert choice.noise == NOISES[0]
    assert choice.knobs["width_factor"] == 0.7
    seen = [(c.scaling.describe(), c.noise, tuple(c.knobs.items())) for c, *_ in trained]
    assert len(seen) == len(set(seen)) == len(log)
    assert {n_rows for _, n_rows, *_ in trained} == {45}, "a quarter of the rows is to judge by"


@every_family
def test_of_equals_the_first_stays(family, judged):
    judged(lambda _: 0.5)
    rows = rows_of("classes", "int16")
    choice, _ = choose(FAMILIES[family], rows, settings())
    assert choice.scaling.describe() == trial._inputs(FAMILIES[family], rows, settings())[0].describe()
    assert choice.noise == NOISES[2]
    assert all(value in (1.0, False) for value in choice.knobs.values())


@every_family
def test_a_knob_beyond_the_budget_loses(family, judged):
    judged(lambda choice: None if choice.knobs.get("width_factor") == 1.4 else choice.knobs.get("width_factor", 1))
    choice, _ = choose(FAMILIES[family], rows_of("classes"), settings())
    assert choice.knobs["width_factor"] == 1.0


@every_family
def test_what_is_given_by_hand_is_not_tried(family, judged):
    log = judged(lambda _: 0.5)
    size = "width" if family == "protonn" else "n_hidden"
    given = settings(noise=0.2, sizes={size: 6, "n_labels": 2} if family == "protonn" else {size: 6})
    choice, _ = choose(FAMILIES[family], rows_of("classes"), given)
    assert choice.noise == 0.2
    assert not choice.knobs
    assert {c.noise for c, *_ in log} <= {0.2}


@every_family
def test_eight_bits_are_tried_from_eight_kilobytes_on(family, judged):
    log = judged(lambda choice: float(choice.formats["projection"] == "int8"))
    for budget, formats in ((8191, {"int4"}), (8192, {"int4", "int8"})):
        log.clear()
        choice, _ = choose(FAMILIES[family], rows_of("classes", n=90), settings(budget=budget))
        assert {c.formats["projection"] for c, *_ in log} == formats
        assert choice.formats["projection"] == max(formats)
    log.clear()
    choose(FAMILIES[family], rows_of("classes", n=90), settings(budget=9000, weight_format="int4"))
    assert {c.formats["projection"] for c, *_ in log} == {"int4"}


@every_family
def test_no_trial_where_none_is_wanted(family, judged):
    log = judged(lambda _: 0.5)
    choice, rows_of_log = choose(FAMILIES[family], rows_of("classes"), settings(trial=False))
    assert not log
    assert rows_of_log == []
    assert choice.noise == NOISES[2]


@every_family
def test_the_training_that_counts_sees_all_rows_but_those_to_stop_by(family, monkeypatch):
    seen = []
    train = trial.train_choice

    def spy(*args, n_steps, held=None):
        seen.append((len(args[1].y), n_steps, None if held is None else len(held.y)))
        return train(*args, n_steps=n_steps, held=held)

    monkeypatch.setattr(trial, "train_choice", spy)
    rows = rows_of("classes")
    fit_family(FAMILIES[family], rows, settings(trial=False))
    fit_family(FAMILIES[family], rows, settings(trial=False, n_steps=20, validation_fraction=0.1))
    assert seen == [(60, steps_for(60), None), (54, 20, 6)]


@every_family
def test_a_budget_that_nothing_meets_is_refused_before_any_training(family, judged):
    log = judged(lambda _: 0.5)
    with pytest.raises(BudgetError):
        fit_family(FAMILIES[family], rows_of("classes"), settings(budget=3))
    assert not log


def test_refusals():
    rows = rows_of("classes")
    with pytest.raises(UsageError, match="mixes float32 with integers"):
        choose(FAMILIES["protonn"], rows, settings(weight_format={"labels": "float32"}))
    with pytest.raises(UsageError, match="leave it out where the weights are float32"):
        choose(FAMILIES["protonn"], rows, settings(weight_format="float32", trusted_range=(0, 255)))


def test_inputs_that_leave_no_room_are_not_tried():
    rows = rows_of("classes", "int16", d=40)
    few = trial._inputs(FAMILIES["sparsenet"], rows, settings(budget=120))
    many = trial._inputs(FAMILIES["sparsenet"], rows, settings(budget=5000))
    assert 1 <= len(few) < len(many)
    assert np.isfinite([each.width for each in few]).all()

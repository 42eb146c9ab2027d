"""What every estimator must do: one entry in ESTIMATORS and it is held to all of this."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn import clone, config_context
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

from smidgen.errors import BudgetError, DataError
from smidgen.models import plumbing
from smidgen.models.prototypes import PrototypeClassifier

ESTIMATORS = [
    PrototypeClassifier(random_state=0),
    PrototypeClassifier(weight_format="float32", random_state=0),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_to_the_letter(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, y.map(dict(enumerate(["setosa", "versicolor", "virginica"])))


@every_estimator
def test_predicts_what_its_program_says(estimator, iris):
    X, y = iris
    model = clone(estimator).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.program_.predict(X.to_numpy()))
    assert model.program_.classes == tuple(model.classes_) == ("setosa", "versicolor", "virginica")
    assert model.program_.feature_names == tuple(model.feature_names_in_) == tuple(X.columns)
    assert model.score(X, y) > 0.9


@every_estimator
def test_same_bytes_for_any_number_of_threads(estimator, iris, monkeypatch):
    X, y = iris
    X = np.tile(X, (10, 5)) + np.random.default_rng(0).normal(size=(1500, 20)).astype(np.float32)
    n_threads_within, check_rows = [], plumbing.training_rows

    def spy(*args, **options):
        n_threads_within.append({pool["num_threads"] for pool in threadpool_info()})
        return check_rows(*args, **options)

    monkeypatch.setattr(plumbing, "training_rows", spy)
    hashes = set()
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            hashes.add(clone(estimator).fit(X, np.tile(y, 10)).program_.hash)
    assert len(hashes) == 1
    assert n_threads_within == [{1}, {1}]


@every_estimator
def test_same_seed_same_model_and_cloning_and_pickling(estimator, iris):
    model = clone(estimator).fit(*iris)
    for twin in (clone(model).fit(*iris), pickle.loads(pickle.dumps(model))):
        assert twin.program_.hash == model.program_.hash
        np.testing.assert_array_equal(twin.predict(iris[0]), model.predict(iris[0]))


@every_estimator
def test_keeps_its_budget_or_refuses_it(estimator, iris):
    with pytest.raises(BudgetError, match=r"takes [0-9]+") as refusal:
        clone(estimator).set_params(budget=3).fit(*iris)
    least = int(str(refusal.value).split()[-1])
    for budget in (least, least + 100, "1kB"):
        model = clone(estimator).set_params(budget=budget).fit(*iris)
        assert model.program_.cost().model_bytes <= (1024 if budget == "1kB" else budget)
    with pytest.raises(BudgetError):
        clone(estimator).set_params(budget=least - 1).fit(*iris)


@every_estimator
def test_within_scikit_learn(estimator, iris):
    X, y = iris
    assert cross_val_score(make_pipeline(StandardScaler(), clone(estimator)), X, y, cv=3).mean() > 0.8
    search = GridSearchCV(clone(estimator), {"budget": ["256 B", "1kB"]}, cv=3).fit(X, y)
    assert search.best_params_["budget"] in ("256 B", "1kB")


@every_estimator
def test_metadata_routing(estimator, iris):
    X, y = iris
    weight = (y != "setosa").astype(float)
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, clone(estimator).set_fit_request(sample_weight=True))
        pipeline.fit(X, y, sample_weight=weight)
    assert list(pipeline.classes_) == ["versicolor", "virginica"]


@every_estimator
def test_not_fitted(estimator, iris):
    with pytest.raises(NotFittedError):
        clone(estimator).predict(iris[0])


@every_estimator
def test_one_class_is_refused_by_name(estimator):
    with pytest.raises(DataError, match="only one class, 'walking'"):
        clone(estimator).fit([[1.0], [2.0]], ["walking", "walking"])


@every_estimator
def test_more_than_float32_holds_is_refused_by_name(estimator):
    with pytest.raises(DataError, match=r"row 1, column 0 of X holds 1e\+300"):
        clone(estimator).fit([[1.0], [1e300]], [0, 1])


@every_estimator
def test_concurrent_fits_give_the_same_bytes(estimator, iris):
    X, y = iris
    alone = clone(estimator).fit(X, y).program_.hash
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda _: clone(estimator).fit(X, y).program_.hash, range(6)))
    assert set(together) == {alone}

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs

from smidgen.errors import BudgetError, DataError, ProgramError, UsageError
from smidgen.models.prototypes import PrototypeClassifier, _allot
from smidgen.models.rows import TrainingRows

FORMATS = ["int4", "int8", "float32"]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1200], X[1200:], y[:1200], y[1200:]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(300, centers=5, n_features=3, cluster_std=0.5, random_state=0)


def nearest(X, points, owner):
    """The oracle: for each row, the class of the nearest point, one by one; ties to the lowest class."""
    answers, distances = [], []
    for x in X.astype(np.float64):
        d = [min(((x - p) ** 2).sum() for p in points[owner == c]) for c in range(owner.max() + 1)]
        answers.append(int(np.argmin(d)))
        distances.append(d)
    return np.array(answers), np.array(distances)


@pytest.mark.parametrize("weight_format", FORMATS)
def test_predicts_the_nearest_prototype(weight_format, digits):
    X, X_test, y, _ = digits
    trusted_range = None if weight_format == "float32" else (0, 16)  # so that distances are those of raw rows
    model = PrototypeClassifier(25, weight_format=weight_format, trusted_range=trusted_range, random_state=0).fit(X, y)
    answers, distances = nearest(X_test[:80], model.prototypes_, model.prototype_classes_)
    np.testing.assert_array_equal(model.predict(X_test[:80]), answers)
    np.testing.assert_allclose(-model.decision_function(X_test[:80]), distances, rtol=1e-5)  # float32 points


@pytest.mark.parametrize("weight_format", FORMATS)
def test_two_classes_have_one_score(weight_format):
    X, y = make_blobs(60, centers=2, random_state=1)
    model = PrototypeClassifier(4, weight_format=weight_format, random_state=0).fit(X, y)
    scores = model.program_.scores(X)
    decision = model.decision_function(X)
    np.testing.assert_array_equal(decision, scores[:, 0] - scores[:, 1])
    np.testing.assert_array_equal(model.predict(X), (decision > 0).astype(int))


@pytest.mark.parametrize("weight_format", FORMATS)
def test_a_tie_goes_to_the_first_class(weight_format):
    X, y = [[0], [2], [8], [10]], ["b", "b", "a", "a"]
    model = PrototypeClassifier(2, weight_format=weight_format, random_state=0).fit(X, y)
    assert model.prototypes_.ravel().tolist() == [9, 1]
    assert model.decision_function([[5]]) == 0
    assert model.predict([[5]]) == "a"


@pytest.mark.parametrize("weight_format", ["auto", *FORMATS])
def test_learns_digits(weight_format, digits):
    X, X_test, y, y_test = digits
    model = PrototypeClassifier(40, weight_format=weight_format, random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.89
    assert model.prototypes_.shape == (40, 64)
    assert model.prototypes_.min() >= 0
    assert model.prototypes_.max() <= 16


@pytest.mark.parametrize("weight_format", ["auto", *FORMATS])
@pytest.mark.parametrize("budget", [512, "1kB", 1777, "4kB"])
def test_fills_its_budget(weight_format, budget, digits):
    X, _, y, _ = digits
    limit = {"1kB": 1024, "4kB": 4096}.get(budget, budget)
    model = PrototypeClassifier(budget=budget, weight_format=weight_format, random_state=0)
    a_prototype = {"int8": 64, "float32": 256}.get(weight_format, 32)
    if limit < 10 * a_prototype + 10:
        with pytest.raises(BudgetError, match=f"one a class takes {10 * a_prototype + 10:,}"):
            model.fit(X, y)
        return
    spent = model.fit(X, y).program_.cost().model_bytes
    assert limit - 256 - 40 < spent <= limit  # another prototype, of any format, would not fit


def test_more_bytes_more_right(digits):
    X, X_test, y, y_test = digits
    scores = [PrototypeClassifier(budget=b, random_state=0).fit(X, y).score(X_test, y_test) for b in (400, 1500, 6000)]
    assert scores == sorted(scores)
    assert scores[-1] - scores[0] > 0.05


def test_n_prototypes_is_a_limit_where_there_is_a_budget(digits):
    X, _, y, _ = digits
    assert len(PrototypeClassifier(12, budget="4kB", random_state=0).fit(X, y).prototypes_) == 12


def test_fewer_prototypes_than_classes_are_refused(blobs):
    with pytest.raises(UsageError, match="n_prototypes is 4, but there are 5 classes"):
        PrototypeClassifier(4).fit(*blobs)


@pytest.mark.parametrize("weight_format", FORMATS)
@pytest.mark.parametrize("budget", [None, "2kB"])
def test_tiny_and_degenerate_tables(weight_format, budget):
    model = PrototypeClassifier(budget=budget, weight_format=weight_format, random_state=0)
    model.fit([[1.5, 2], [3, 4]], ["a", "b"])
    assert model.predict([[1.5, 2], [3, 4]]).tolist() == ["a", "b"]
    model.fit(np.full((6, 2), 3.3), [0, 1] * 3)  # rows that say nothing: the first class
    assert model.predict([[3.3, 3.3], [900, -900]]).tolist()[0] == 0
    model.fit([[0, 7]] * 5 + [[200, 7]] * 2, [1] * 5 + [0] * 2)
    assert len(model.prototypes_) == 2
    assert model.predict([[10, 7], [190, 7]]).tolist() == [1, 0]


@pytest.mark.parametrize("weight_format", ["auto", "float32"])
@pytest.mark.parametrize("trouble", ["units and offsets", "tiny", "huge", "int16", "constant column"])
def test_raw_tables_need_no_scaler(weight_format, trouble):
    X, y = make_blobs(600, centers=6, n_features=8, cluster_std=1.0, random_state=3)
    rng = np.random.default_rng(0)
    if trouble == "units and offsets":
        X = (X + 100 * X.std(axis=0) * rng.choice([-1, 1], 8)) * 10.0 ** rng.uniform(-3, 3, 8)
    elif trouble == "tiny":
        X = X * 1e-30
    elif trouble == "huge":
        X = X * 1e34
    elif trouble == "int16":
        X = np.rint(X * 2.0 ** rng.integers(0, 11, 8)).astype(int)
    else:
        X[:, 3] = 1e6
    model = PrototypeClassifier(12, weight_format=weight_format, random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.97
    np.testing.assert_allclose(  # near the rows of their class, in the rows' own units
        model.prototypes_, [X[y == c].mean(axis=0) for c in model.prototype_classes_], atol=3 * X.std(axis=0).max()
    )


def test_weights_mean_repetition_to_the_byte(blobs):
    X, y = blobs
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(y))
    repeated = rng.permutation(np.repeat(np.arange(len(y)), weight))
    by_weight = PrototypeClassifier(20, random_state=0).fit(X, y, sample_weight=weight)
    by_rows = PrototypeClassifier(20, random_state=0).fit(X[repeated], y[repeated])
    assert by_weight.program_.hash == by_rows.program_.hash


def test_dtype_and_container_do_not_matter(digits):
    X, _, y, _ = digits
    tables = [
        X,
        X.astype(np.uint8),
        X.astype(np.float32),
        X.astype(np.int64),
        sparse.csr_matrix(X),
        sparse.coo_array(X),
    ]
    models = [PrototypeClassifier(20, random_state=0).fit(table, y) for table in tables]
    assert {model.program_.hash for model in models} == {models[0].program_.hash}
    for model, table in zip(models, tables, strict=True):
        np.testing.assert_array_equal(model.predict(table), models[0].predict(X))


def test_another_seed_another_model(digits):
    X, _, y, _ = digits
    models = [PrototypeClassifier(20, random_state=seed).fit(X, y) for seed in (0, 1)]
    assert models[0].program_.hash != models[1].program_.hash


def test_trusted_range(digits):
    X, X_test, y, y_test = digits
    model = PrototypeClassifier(20, trusted_range=(0, 16), random_state=0).fit(X, y)
    assert model.program_.input.trusted_range == (0, 16)
    assert model.score(X_test, y_test) > 0.85
    with pytest.raises(DataError, match=r"is 17; the Program trusts in 0..16"):
        model.predict(np.full((1, 64), 17))
    with pytest.raises(UsageError, match=r"trusted_range is 0..15"):
        PrototypeClassifier(20, trusted_range=(0, 15)).fit(X, y)
    with pytest.raises(ProgramError, match="pair"):
        PrototypeClassifier(20, trusted_range=(0, 15, 16)).fit(X, y)
    with pytest.raises(UsageError, match="belongs to the integer formats"):
        PrototypeClassifier(20, trusted_range=(0, 16), weight_format="float32").fit(X, y)


def test_names_of_columns_reach_the_program(blobs):
    X, y = blobs
    table = pd.DataFrame(X, columns=["x", "y", "z"])
    assert PrototypeClassifier().fit(table, y).program_.feature_names == ("x", "y", "z")
    assert PrototypeClassifier().fit(X, y).program_.feature_names is None


@pytest.mark.parametrize(("parameter", "value"), [("n_prototypes", 0), ("weight_format", "int2"), ("n_init", 0)])
def test_parameters_are_checked(parameter, value, blobs):
    with pytest.raises(ValueError, match=parameter):
        PrototypeClassifier(**{parameter: value}).fit(*blobs)


def test_allotment():
    y = np.repeat([0, 1, 2], [100, 25, 2])
    rows = TrainingRows(np.zeros((127, 1)), y, np.ones(127), np.arange(3))
    assert _allot(rows, 3).tolist() == [1, 1, 1]
    assert _allot(rows, 16).tolist() == [10, 5, 1]  # square roots are 10, 5, 1.4
    assert _allot(rows, 127).tolist() == [100, 25, 2]  # never more than rows
    previous = _allot(rows, 3)
    for n in range(4, 128):
        following = _allot(rows, n)
        assert following.sum() == n
        assert (following - previous >= 0).all()
        previous = following

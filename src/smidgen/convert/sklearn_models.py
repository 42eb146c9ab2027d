"""scikit-learn's own classifiers → the steps of a float32 Program.

    LogisticRegression, LinearSVC    Linear → Decide
    NearestCentroid                  the same: |x - c|² compares as -2 c x + |c|² does
    KNeighborsClassifier             Distance → GroupReduce(min) → Decide, for one neighbour
    MLPClassifier                    Linear(relu) → Linear → Decide, for one hidden layer

Two classes get a single score. May import scikit-learn, `smidgen.models` and `smidgen.program`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC

from smidgen.convert.pipeline import Before, float_linear
from smidgen.errors import UsageError
from smidgen.models.sklearn_private import neighbours
from smidgen.program import Decide, Distance, GroupReduce, Linear, Matrix
from smidgen.program.program import Step

Floats = NDArray[np.float64]


def steps_of(model: Any, before: Before) -> list[Step]:
    """The steps that follow what stands before a fitted classifier; anything unknown is refused by name."""
    kind = type(model)
    if kind in (LogisticRegression, LinearSVC):
        return _linear(model, before)
    if kind is NearestCentroid:
        return _nearest_centroid(model, before)
    if kind is KNeighborsClassifier:
        return _nearest_neighbour(model, before)
    if kind is MLPClassifier:
        return _network(model, before)
    raise UsageError(
        f"{kind.__name__} cannot become a Program: smidgen's estimators can, and LogisticRegression, LinearSVC, "
        "NearestCentroid, KNeighborsClassifier and MLPClassifier of scikit-learn, alone or behind scalers in a Pipeline"
    )


def _linear(model: Any, before: Before) -> list[Step]:
    weights = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    return _scored(float_linear(before.seen(weights), model.intercept_))


def _nearest_centroid(model: Any, before: Before) -> list[Step]:
    if model.metric != "euclidean":
        raise UsageError(f"NearestCentroid with the metric {model.metric!r} cannot become a Program: use 'euclidean'")
    if not np.isclose(model.class_prior_, 1 / len(model.classes_)).all():
        raise UsageError("NearestCentroid with unequal priors cannot become a Program: fit it with priors='uniform'")
    if model.shrink_threshold is not None:
        raise UsageError("NearestCentroid with a shrink_threshold cannot become a Program: fit it without one")
    # the centroids' own middle may be taken off them: it adds the same to every class, and keeps the numbers small
    middle = model.centroids_.mean(axis=0)
    weights = model.centroids_ - middle
    bias = -weights @ middle - (weights**2).sum(axis=1) / 2
    if len(weights) == 2:
        weights, bias = weights[1:] - weights[:1], bias[1:] - bias[:1]
    return _scored(float_linear(before.seen(weights), bias))


def _nearest_neighbour(model: Any, before: Before) -> list[Step]:
    if model.n_neighbors != 1:
        raise UsageError(
            f"KNeighborsClassifier with {model.n_neighbors} neighbours cannot become a Program, which has no votes: "
            "fit it with n_neighbors=1"
        )
    if model.effective_metric_ != "euclidean":
        raise UsageError(
            f"KNeighborsClassifier with the metric {model.effective_metric_!r} cannot become a Program: use 'euclidean'"
        )
    if model.outputs_2d_:
        raise UsageError("KNeighborsClassifier with several outputs cannot become a Program: fit one for each")
    X, y = neighbours(model)
    points = [np.unique(X[y == label], axis=0) for label in range(len(model.classes_))]
    counts = np.array([len(group) for group in points])
    return [
        Distance(Matrix.pack(before.seen(np.vstack(points)), "float32", "dense")),
        GroupReduce(counts.astype(np.uint8 if counts.max() <= 255 else np.uint16), "min"),
        Decide("argmin"),
    ]


def _network(model: Any, before: Before) -> list[Step]:
    if model.n_layers_ != 3 or model.activation != "relu":
        hidden = model.n_layers_ - 2
        raise UsageError(
            f"MLPClassifier with {hidden} hidden layer{'' if hidden == 1 else 's'} and the activation "
            f"{model.activation!r} cannot become a Program: fit it with one hidden layer and 'relu'"
        )
    hidden = float_linear(before.seen(model.coefs_[0].T), model.intercepts_[0], "relu")
    scores = float_linear(model.coefs_[1].T, model.intercepts_[1])
    if model.out_activation_ == "logistic" and model.n_outputs_ > 1:
        return [hidden, scores, Decide("labels")]
    return [hidden, *_scored(scores)]


def _scored(scores: Linear) -> list[Step]:
    """A Linear whose results are scores, of classes or, if there is but one, of the second class."""
    return [scores, Decide("threshold" if scores.n_outputs == 1 else "argmax")]

"""ProtoNN: k nearest neighbours compressed to kilobytes (Gupta et al., ICML 2017).

The model, for a row x:

    u = Input(x)                                    bytes (see `scaling`); float32 for `weight_format="float32"`
    p = W (u - mean) / spread + b                   a projection, sparse (`projection`)
    k_j = exp(-|b_j - p|²)                          similarity to each prototype, gamma folded into W and B
    s = sum_j z_j k_j (+ c)                         scores; c for two classes, labels and values alone

    symbol   meaning                                                shape    paper      attribute
    x, u     a row, and what the Input makes of it                  (d,)     x
    W        projection                                             (h, d)   W          projection_
    B        prototypes, a row b_j each                             (m, h)   B          prototypes_
    Z        what each prototype votes for, a row z_j each          (m, L)   Z          prototype_labels_
    b, c     biases of projection and scores                        (h,) (L,)
    L        scores: one for two classes, else one a class, label or value

Where we differ from the paper: all parts are trained at once by Adam with the cross-entropy (the paper alternates, with
the squared loss: `solver="alternating"`, see `alternating`); the projection has a bias; four-bit weights are trained as
such; and the last phase computes in the Program's own integers, so that what is fitted is what is stored and `predict`
is the board's answer. The engine does that for any model (`engine`); here is the model alone.
"""

import math
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, cast

import numpy as np

from smidgen.core.losses import LOSSES
from smidgen.errors import UsageError
from smidgen.models import plumbing
from smidgen.models.fitting import Settings, n_scores
from smidgen.models.protonn_model import ProtoNNFamily
from smidgen.models.protonn_paper import Schedule, fit_as_the_paper, paper_sizes
from smidgen.models.rows import TrainingRows
from smidgen.models.sklearn_private import Interval, StrOptions
from smidgen.models.trained import CONSTRAINTS, INTEGERS, TrainedByEngine, TrainedClassifier, TrainedRegressor
from smidgen.program import Program

SIZE_CONSTRAINTS = {
    **{name: [INTEGERS, None] for name in ("width", "n_prototypes", "n_labels")},
    "density": [Interval(Real, 0, 1, closed="right"), None],
    "solver": [StrOptions({"adam", "alternating"})],
    "plan": [StrOptions({"auto", "paper"})],
    "train": [tuple, list],
    "projection": [StrOptions({"gaussian", "pca", "lda"}), np.ndarray, None],
    "prototypes": [StrOptions({"kmeans", "sampled"})],
    "n_rounds": [Interval(Integral, 0, None, closed="left")],
    "n_epochs": [INTEGERS, None],
    "batch_size": [INTEGERS, None],
}


class _ProtoNN(TrainedByEngine):
    """What classifier and regressor share: the engine's training, or the paper's."""

    _family = ProtoNNFamily()
    _size_names = ("width", "n_prototypes", "n_labels", "density")

    def _settings(self, rows: TrainingRows) -> Settings:
        settings, given = super()._settings(rows), cast(Any, self)
        if given.plan == "auto" or given.solver == "alternating":
            return settings
        paper = paper_sizes(rows)
        n_labels = math.ceil(paper.sparsity[2] * n_scores(rows))
        sizes = {
            "width": paper.width,
            "n_prototypes": paper.n_prototypes,
            "n_labels": n_labels,
            "density": paper.sparsity[0],
        }
        by_hand = {name: size for name, size in settings.sizes.items() if size is not None}
        return replace(settings, sizes={**sizes, **by_hand})

    def _train(self, rows: TrainingRows) -> Program:
        given = cast(Any, self)
        if given.solver == "adam":
            if given.batch_size is None:
                raise UsageError('batch_size is None, the full gradient, which solver="alternating" alone can take')
            return super()._train(rows)
        if given.weight_format not in ("auto", "float32"):
            raise UsageError(
                f'solver="alternating" trains in float32, not in {given.weight_format}: leave weight_format out, and '
                "quantise the Program afterwards"
            )
        start = "gaussian" if given.projection is None else given.projection
        schedule = Schedule(
            start, given.prototypes, tuple(given.train), given.n_rounds, given.n_epochs, given.batch_size
        )
        fitted = fit_as_the_paper(rows, self._settings(rows), schedule, plan_of_paper=given.plan == "paper")
        self.plan_, self.trial_ = fitted.plan, []
        self.history_ = [{"round": each.number, "loss": each.objective} for each in fitted.history]
        self.projection_, self.prototypes_, self.prototype_labels_ = fitted.W, fitted.B, fitted.Z
        return replace(fitted.program, feature_names=plumbing.feature_names(self))

    def _train_further(self, rows: TrainingRows) -> Program:
        if cast(Any, self).solver == "alternating":
            raise UsageError('solver="alternating" has no partial_fit: it goes over all rows together, so call fit')
        return super()._train_further(rows)


class ProtoNNClassifier(_ProtoNN, TrainedClassifier):
    """Nearest prototypes in a learned projection: the classifier of the ProtoNN paper, trained in the board's integers.

    Parameters
    ----------
    budget : int or str, optional
        The bytes that all constants of the Program may take: 2048, "2kB", "512 B". 1 kB is 1,024 bytes. Without one
        the sizes are those that 2 kB would buy, and nothing is refused.
    weight_format : {"auto", "int4", "int8", "float32"} or dict, default="auto"
        The number format of the matrices, or one for each by name: "projection", "prototypes" and "labels". "auto" is
        int4, and from 8 kB on int8 where held-out training rows are served better by it. With float32 nothing is an
        integer.
    width : int, optional
        The height of the projection.
    n_prototypes : int, optional
    n_labels : int, optional
        How many labels each prototype keeps.
    density : float, optional
        The share of the projection's weights that stay. Sizes that are not given are planned (`plan_`).
    loss : {"cross_entropy", "squared", "hinge"}, default="cross_entropy"
    solver : {"adam", "alternating"}, default="adam"
        "alternating" is the paper's Algorithm 1 with its squared loss, in float32 alone: `train`, `projection`,
        `prototypes`, `n_rounds` and `n_epochs` belong to it, and of the parameters below only `batch_size` (None: the
        full gradient), `class_weight` and `random_state`.
    plan : {"auto", "paper"}, default="auto"
        Where sizes that are not given come from: from the budget, or from the paper's Section 6.
    train : tuple of "W", "B", "Z"
        The parts to train; the others stay as they start, W thresholded.
    projection : {"gaussian", "pca", "lda"} or ndarray of shape (width, n_features), optional
        Where W starts; by default from Gaussian numbers, as in the paper. (Adam starts from PCA.)
    prototypes : {"kmeans", "sampled"}, default="kmeans"
        Whether prototypes start as centres of each class, or as rows drawn at random with their own labels.
    n_rounds : int, default=150
    n_epochs : int, optional
        Of each sub-problem in a round: by default 20 with the full gradient, 5 with batches.
    n_steps : int, optional
        Training steps. By default 12,000 from 16,000 rows on, fewer with the square root of fewer rows, at least 400.
    batch_size : int, default=256
    learning_rate : float, optional
        At the schedule's height; by default 0.045.
    weight_decay : float, default=0
        Decoupled decay of the projection.
    noise : float or "auto", default="auto"
        The standard deviation of what is added to the inputs in training, in deviations of the inputs. "auto" lets
        the trial choose between 0.01 and 0.8.
    trial : bool, default=True
        Whether short trainings on three quarters of the training rows choose the Input, the noise and the sizes that
        are not given, by the other quarter.
    early_stopping : bool, default=False
        Whether to stop, and to keep the best model, by rows that are held out from the training.
    validation_fraction : float, default=0.1
        The share of rows held out for early stopping.
    trusted_range : (int, int), optional
        The range of whole numbers within 0..255 that the sensors are sure to keep: rows are then taken as they are,
        and `predict` refuses any outside it.
    class_weight : dict or "balanced", optional
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    program_ : Program
        What runs on the board.
    projection_ : ndarray of shape (width, n_features)
    prototypes_ : ndarray of shape (n_prototypes, width)
    prototype_labels_ : ndarray of shape (n_prototypes, n_scores)
        W, B and Z as they count, gamma folded in.
    plan_ : ProtoNNPlan
        The sizes that were chosen.
    trial_ : list of dict
        What was tried, and the score of each on held-out training rows.
    noise_ : float
        What was added to the inputs in training.
    history_ : list of dict
        A row for each epoch: the step, and the mean loss.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only where X has column names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from smidgen import ProtoNNClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = ProtoNNClassifier(budget="1kB", random_state=0).fit(X[:1200], y[:1200])
    >>> model.program_.cost().model_bytes <= 1024, bool(model.score(X[1200:], y[1200:]) > 0.9)
    (True, True)
    """

    _parameter_constraints = {  # noqa: RUF012  (scikit-learn's own idiom)
        **CONSTRAINTS,
        **SIZE_CONSTRAINTS,
        "loss": [StrOptions(set(LOSSES))],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    _family = ProtoNNFamily()
    _size_names = (
        "width",
        "n_prototypes",
        "n_labels",
        "density",
    )

    def __init__(
        self,
        budget: int | str | None = None,
        *,
        weight_format: Any = "auto",
        width: int | None = None,
        n_prototypes: int | None = None,
        n_labels: int | None = None,
        density: float | None = None,
        loss: str = "cross_entropy",
        solver: str = "adam",
        plan: str = "auto",
        train: tuple[str, ...] = ("W", "B", "Z"),
        projection: Any = None,
        prototypes: str = "kmeans",
        n_rounds: int = 150,
        n_epochs: int | None = None,
        n_steps: int | None = None,
        batch_size: int | None = 256,
        learning_rate: float | None = None,
        weight_decay: float = 0.0,
        noise: Any = "auto",
        trial: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        class_weight: Any = None,
        trusted_range: tuple[int, int] | None = None,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.weight_format = weight_format
        self.width = width
        self.n_prototypes = n_prototypes
        self.n_labels = n_labels
        self.density = density
        self.loss = loss
        self.solver = solver
        self.plan = plan
        self.train = train
        self.projection = projection
        self.prototypes = prototypes
        self.n_rounds = n_rounds
        self.n_epochs = n_epochs
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.noise = noise
        self.trial = trial
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.trusted_range = trusted_range
        self.random_state = random_state


class ProtoNNRegressor(_ProtoNN, TrainedRegressor):
    """Values from nearest prototypes in a learned projection, trained in the board's integers.

    Parameters
    ----------
    budget, weight_format, ... : see the classifier
        All of its parameters but `loss` and `class_weight`; the loss is the squared one, of standardised values.

    Attributes
    ----------
    n_outputs_ : int
    program_ : Program
        What runs on the board.
    projection_ : ndarray of shape (width, n_features)
    prototypes_ : ndarray of shape (n_prototypes, width)
    prototype_labels_ : ndarray of shape (n_prototypes, n_scores)
        W, B and Z as they count, gamma folded in.
    plan_ : ProtoNNPlan
        The sizes that were chosen.
    trial_ : list of dict
        What was tried, and the score of each on held-out training rows.
    noise_ : float
        What was added to the inputs in training.
    history_ : list of dict
        A row for each epoch: the step, and the mean loss.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only where X has column names that are all strings.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from smidgen import ProtoNNRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ProtoNNRegressor(budget="512 B", random_state=0).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.35)
    True
    """

    _parameter_constraints = {**CONSTRAINTS, **SIZE_CONSTRAINTS}  # noqa: RUF012  (scikit-learn's own idiom)

    def __init__(
        self,
        budget: int | str | None = None,
        *,
        weight_format: Any = "auto",
        width: int | None = None,
        n_prototypes: int | None = None,
        n_labels: int | None = None,
        density: float | None = None,
        solver: str = "adam",
        plan: str = "auto",
        train: tuple[str, ...] = ("W", "B", "Z"),
        projection: Any = None,
        prototypes: str = "kmeans",
        n_rounds: int = 150,
        n_epochs: int | None = None,
        n_steps: int | None = None,
        batch_size: int | None = 256,
        learning_rate: float | None = None,
        weight_decay: float = 0.0,
        noise: Any = "auto",
        trial: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        trusted_range: tuple[int, int] | None = None,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.weight_format = weight_format
        self.width = width
        self.n_prototypes = n_prototypes
        self.n_labels = n_labels
        self.density = density
        self.solver = solver
        self.plan = plan
        self.train = train
        self.projection = projection
        self.prototypes = prototypes
        self.n_rounds = n_rounds
        self.n_epochs = n_epochs
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.noise = noise
        self.trial = trial
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.trusted_range = trusted_range
        self.random_state = random_state

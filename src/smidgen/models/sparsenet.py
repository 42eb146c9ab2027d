"""SparseNet: a network with one hidden layer, its first layer pruned, trained in the board's integers.

The rival that the ProtoNN paper compares with, and a model in its own right. For a row x:

    u = Input(x)                                    bytes (see `scaling`); float32 for `weight_format="float32"`
    y = relu(W (u - mean) / spread + b)             the hidden layer, sparse (`projection`)
    s = Z y + c                                     scores

    symbol   meaning                                                shape       attribute
    x, u     a row, and what the Input makes of it                  (d,)
    W, b     first layer                                            (h, d) (h,) projection_
    Z, c     second layer                                           (L, h) (L,) output_weights_
    L        scores: one for two classes, else one a class, label or value

Weights of four or eight bits are trained as such, and the last phase computes in the Program's own integers, so that
what is fitted is what is stored. The engine does that for any model (`engine`); here is the model alone.
"""

from numbers import Real
from typing import Any

from smidgen.core.losses import LOSSES
from smidgen.models.sklearn_private import Interval, StrOptions
from smidgen.models.sparsenet_model import SparseNetFamily
from smidgen.models.trained import CONSTRAINTS, INTEGERS, TrainedClassifier, TrainedRegressor

SIZE_CONSTRAINTS = {
    "n_hidden": [INTEGERS, None],
    "density": [Interval(Real, 0, 1, closed="right"), None],
}


class SparseNetClassifier(TrainedClassifier):
    """A pruned network with one hidden layer, for classes or labels, trained in the board's integers.

    Parameters
    ----------
    budget : int or str, optional
        The bytes that all constants of the Program may take: 2048, "2kB", "512 B". 1 kB is 1,024 bytes. Without one
        the sizes are those that 2 kB would buy, and nothing is refused.
    weight_format : {"auto", "int4", "int8", "float32"} or dict, default="auto"
        The number format of the matrices, or one for each by name: "projection" and "outputs". "auto" is int4, and from
        8 kB on int8 where held-out training rows are served better by it. With float32 nothing is an integer.
    n_hidden : int, optional
        Units of the hidden layer.
    density : float, optional
        The share of the first layer's weights that stay. Sizes that are not given are planned (`plan_`).
    loss : {"cross_entropy", "squared", "hinge"}, default="cross_entropy"
    n_steps : int, optional
        Training steps. By default 12,000 from 16,000 rows on, fewer with the square root of fewer rows, at least 400.
    batch_size : int, default=256
    learning_rate : float, optional
        At the schedule's height; by default 0.0135.
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
    projection_ : ndarray of shape (n_hidden, n_features)
    output_weights_ : ndarray of shape (n_scores, n_hidden)
        The two layers' weights as they count.
    plan_ : SparseNetPlan
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
    >>> from smidgen import SparseNetClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = SparseNetClassifier(budget="1kB", random_state=0).fit(X[:1200], y[:1200])
    >>> model.program_.cost().model_bytes <= 1024, bool(model.score(X[1200:], y[1200:]) > 0.9)
    (True, True)
    """

    _parameter_constraints = {  # noqa: RUF012  (scikit-learn's own idiom)
        **CONSTRAINTS,
        **SIZE_CONSTRAINTS,
        "loss": [StrOptions(set(LOSSES))],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }
    _family = SparseNetFamily()
    _size_names = (
        "n_hidden",
        "density",
    )

    def __init__(
        self,
        budget: int | str | None = None,
        *,
        weight_format: Any = "auto",
        n_hidden: int | None = None,
        density: float | None = None,
        loss: str = "cross_entropy",
        n_steps: int | None = None,
        batch_size: int = 256,
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
        self.n_hidden = n_hidden
        self.density = density
        self.loss = loss
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


class SparseNetRegressor(TrainedRegressor):
    """A pruned network with one hidden layer, for one value or several, trained in the board's integers.

    Parameters
    ----------
    budget, weight_format, ... : see the classifier
        All of its parameters but `loss` and `class_weight`; the loss is the squared one, of standardised values.

    Attributes
    ----------
    n_outputs_ : int
    program_ : Program
        What runs on the board.
    projection_ : ndarray of shape (n_hidden, n_features)
    output_weights_ : ndarray of shape (n_scores, n_hidden)
        The two layers' weights as they count.
    plan_ : SparseNetPlan
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
    >>> from smidgen import SparseNetRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparseNetRegressor(budget="512 B", random_state=0).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.35)
    True
    """

    _parameter_constraints = {**CONSTRAINTS, **SIZE_CONSTRAINTS}  # noqa: RUF012  (scikit-learn's own idiom)
    _family = SparseNetFamily()
    _size_names = (
        "n_hidden",
        "density",
    )

    def __init__(
        self,
        budget: int | str | None = None,
        *,
        weight_format: Any = "auto",
        n_hidden: int | None = None,
        density: float | None = None,
        n_steps: int | None = None,
        batch_size: int = 256,
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
        self.n_hidden = n_hidden
        self.density = density
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

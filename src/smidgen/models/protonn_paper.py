"""ProtoNN as the paper fits it: its sizes, its start, its solver, and a Program of real numbers.

The solver and the start themselves are in `alternating`, as functions of arrays; here rows become what they take, and
what they leave becomes a Program. May import core, the Program and the files of models/ that know no other algorithm.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from smidgen.errors import BudgetError, UsageError
from smidgen.models.alternating import PaperPlan, Round, alternate, paper_plan, start
from smidgen.models.fitting import DEFAULT_BUDGET, Settings, decide_of, training_targets
from smidgen.models.plans import plan_protonn
from smidgen.models.projection import real_bias
from smidgen.models.rows import TrainingRows
from smidgen.models.scaling import raw_type
from smidgen.program import Distance, Input, Linear, Matrix, Program
from smidgen.program.checks import counted
from smidgen.program.storage import Format

FLOATS: dict[str, Format] = {"projection": "float32", "prototypes": "float32", "labels": "float32"}
YES = 0.5  # half way between the targets 0 and 1


@dataclass(frozen=True)
class Schedule:
    """What Algorithm 1 leaves to its user.

    Parameters
    ----------
    projection : {"gaussian", "pca", "lda"} or array
    prototypes : {"kmeans", "sampled"}
    train : tuple of "W", "B", "Z"
    n_rounds : int
    n_epochs, batch_size : int or None
    """

    projection: Any
    prototypes: str
    train: tuple[Any, ...]
    n_rounds: int
    n_epochs: int | None
    batch_size: int | None


@dataclass(frozen=True)
class PaperFit:
    """What the paper's solver leaves."""

    program: Program
    plan: PaperPlan
    W: NDArray
    B: NDArray
    Z: NDArray
    history: list[Round]


def paper_sizes(rows: TrainingRows) -> PaperPlan:
    """Return the sizes of the paper's Section 6 for such rows."""
    if rows.task == "regression":
        raise UsageError('plan="paper" is for classes and labels: the paper gives no sizes for values')
    labels_per_row = float(rows.y.sum(axis=1).mean()) if rows.task == "multilabel" else None
    return paper_plan(rows.X.shape[1], rows.n_outputs, labels_per_row=labels_per_row)


def fit_as_the_paper(rows: TrainingRows, settings: Settings, schedule: Schedule, *, plan_of_paper: bool) -> PaperFit:
    """Start, alternate, and build the Program."""
    plan = paper_sizes(rows) if plan_of_paper else _planned(rows, settings)
    X, centre, scale = standardised(rows)
    Y, values = _targets(rows)
    weight = None if (rows.weight == rows.weight[0]).all() else rows.weight
    method: Any = schedule.prototypes if rows.task == "classification" else "sampled"
    model = start(
        X,
        Y,
        plan.width,
        min(plan.n_prototypes, len(rows.y)),
        method=method,
        projection=schedule.projection,
        seed=settings.seed,
        weight=weight,
    )
    W, B, Z, history = alternate(
        X,
        Y,
        model.W,
        model.B,
        model.Z,
        gamma=model.gamma,
        sparsity=plan.sparsity,
        n_rounds=schedule.n_rounds,
        n_epochs=schedule.n_epochs,
        batch_size=schedule.batch_size,
        train=schedule.train,
        seed=settings.seed,
        weight=weight,
    )
    projection = np.asarray(W, np.float64) / scale
    outputs = np.full(Z.shape[1], -YES) if rows.task == "multilabel" else values.centre
    steps = (
        Input(raw_type(rows.X), rows.X.shape[1], output="float32"),
        Linear(Matrix.pack(projection, "float32"), real_bias(-projection @ centre)),
        Distance(Matrix.pack(B, "float32", "dense"), kernel=float(model.gamma) ** 2),
        Linear(Matrix.pack((Z * values.deviation).T, "float32"), real_bias(np.broadcast_to(outputs, Z.shape[1]))),
        decide_of(rows, Z.shape[1]),
    )
    classes = None if rows.classes is None else tuple(rows.classes.tolist())
    program = Program(steps, classes=classes)
    n_bytes = program.cost().model_bytes
    if settings.budget is not None and n_bytes > settings.budget:
        raise BudgetError(
            f"the sizes do not fit into {counted(settings.budget, 'byte')}: with every constant counted the model "
            f"takes {n_bytes}"
        )
    return PaperFit(program, plan, projection.astype(np.float32), B, Z, history)


def _planned(rows: TrainingRows, settings: Settings) -> PaperPlan:
    """The sizes that the planner of `plans` buys for real numbers."""
    n_outputs = rows.n_outputs
    plan = plan_protonn(
        settings.budget or DEFAULT_BUDGET,
        rows.X.shape[1],
        n_outputs,
        FLOATS,
        most_prototypes=len(rows.y),
        least_prototypes=n_outputs if rows.task == "classification" else 1,
        output_bias=rows.task != "classification",
        **{name: size for name, size in settings.sizes.items() if size is not None},
    )
    density = plan.n_entries / (plan.width * plan.n_features)
    return PaperPlan(plan.width, plan.n_prototypes, (density, 1.0, plan.n_labels / n_outputs))


def standardised(rows: TrainingRows) -> tuple[Any, NDArray, NDArray | float]:
    """Return rows as the solver takes them, and the centre and scale that made them so.

    Features that share a unit, as bytes do, are centred and share a scale; others are scaled each by itself; sparse
    rows stay as they are, and sparse.
    """
    n_features = rows.X.shape[1]
    if sparse.issparse(rows.X):
        return rows.X.astype(np.float32), np.zeros(n_features), 1.0
    mean = np.average(rows.X, axis=0, weights=rows.weight)
    X = rows.X.astype(np.float32) - mean.astype(np.float32)
    deviation = np.sqrt(np.average(X * X, axis=0, weights=rows.weight).astype(np.float64))
    scale: NDArray | float
    if rows.X.dtype == np.uint8:
        scale = float(np.sqrt(np.mean(deviation**2))) or 1.0
    else:
        scale = np.where(deviation > 0, deviation, 1.0)
    X /= np.float32(scale) if isinstance(scale, float) else scale.astype(np.float32)
    return X, mean, scale


def _targets(rows: TrainingRows) -> tuple[NDArray[np.float32], Any]:
    """Label vectors as the paper has them: two columns for two classes."""
    targets, values = training_targets(rows)
    if rows.task == "classification":
        targets = np.eye(rows.n_outputs, dtype=np.float32)[rows.y]
    return targets, values

"""What the tests of the training engine share: small rows of every task, and a model of them at any phase."""

from dataclasses import replace

import numpy as np

from smidgen.core.losses import LOSSES
from smidgen.models import scaling
from smidgen.models.engine import Recipe, train
from smidgen.models.feed import feed_of
from smidgen.models.fitting import Choice, Settings, _start, plan_of, training_targets
from smidgen.models.parameters import Parameters
from smidgen.models.protonn_model import ProtoNNFamily
from smidgen.models.rows import TrainingRows
from smidgen.models.sparsenet_model import SparseNetFamily

FAMILIES = {"protonn": ProtoNNFamily(), "sparsenet": SparseNetFamily()}
TASKS = ("binary", "classes", "labels", "values")
KINDS = ("uint8", "int16", "float32")


def rows_of(task, kind="uint8", n=60, d=6, seed=0):
    """Blobs of whole numbers or fractions, and something to learn of them."""
    draw = np.random.default_rng(seed)
    label = np.arange(n) % 3
    blobs = 30.0 * draw.normal(size=(3, d))[label] + 12 * draw.normal(size=(n, d))
    X = {
        "uint8": lambda: np.clip(128 + blobs, 0, 255).astype(np.uint8),
        "int16": lambda: (1000 + 10 * blobs).astype(np.int16),
        "float32": lambda: (blobs / 7).astype(np.float32),
    }[kind]()
    weight = np.ones(n)
    if task == "binary":
        return TrainingRows(X, (label == 1).astype(np.intp), weight, np.array(["off", "on"]))
    if task == "classes":
        return TrainingRows(X, label.astype(np.intp), weight, np.array(["a", "b", "c"]))
    if task == "labels":
        return TrainingRows(X, np.stack([label > 0, label == 1], axis=1).astype(np.uint8), weight, np.arange(2))
    return TrainingRows(X, np.stack([blobs[:, 0] - 3, blobs[:, 1:3].sum(axis=1)], axis=1), weight)


def loss_of(task):
    return LOSSES["squared" if task == "values" else "cross_entropy"]


def pieces(family, rows, weight_format="int4", scaled=0, noise=0.0, **settings):
    """The choice, the settings, the feed and the model that a training starts from."""
    family = FAMILIES[family]
    inputs = scaling.candidate_float_inputs if weight_format == "float32" else scaling.candidate_inputs
    choice = Choice(inputs(rows.X, rows.weight)[scaled], noise, family.formats(weight_format))
    settings = Settings(**{"budget": 300, "batch_size": 16, **settings})
    plan = plan_of(family, rows, choice, settings)
    feed = feed_of(rows.X, rows.weight, choice.scaling, noise=noise, batch_size=settings.batch_size, seed=settings.seed)
    start = _start(rows, choice, settings, plan=plan, feed=feed, default_rate=family.default_rate)
    return choice, settings, feed, family.start(start)


def trained_briefly(family, rows, task, n_steps=60, loss=None, **options):
    """The choice, the settings and what a short training leaves."""
    choice, settings, feed, model = pieces(family, rows, **options)
    recipe = Recipe(n_steps, settings.batch_size, choice.scaling.output == "bytes", settings.seed)
    targets, _ = training_targets(rows)
    weight = rows.weight.astype(np.float32)
    return choice, settings, train(model, feed, targets, weight, loss=loss or loss_of(task), recipe=recipe)


def in_float64(parameters: Parameters) -> Parameters:
    """The same parameters, to be derived by finite differences."""
    model = parameters.model
    model = replace(model, projection=replace(model.projection, mean=model.projection.mean.astype(np.float64)))
    keep = {name: mask.astype(np.float64) for name, mask in parameters.keep.items()}
    units = parameters.units
    if hasattr(units, "expanded"):
        units = units._replace(table=units.table.astype(np.float64), expanded=units.expanded.astype(np.float64))
    return replace(parameters, model=model, theta=parameters.theta.astype(np.float64), keep=keep, units=units)

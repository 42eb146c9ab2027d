"""What stands before the estimator of a Pipeline → one affine map a feature, and a Linear for each projection.

    StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler     (x - o) * m, all of them merged into one such map
    SelectKBest                                                  the board still gets what it leaves out, times 0
    SimpleImputer                                                a fill for NaN, in the units in which it stood there
    PCA, TruncatedSVD                                            a Linear of their own

Scalers behind a projection scale its rows; everything else is refused by name. May import scikit-learn and
`smidgen.program`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from smidgen.errors import UsageError
from smidgen.program import Input, Linear, Matrix

Floats = NDArray[np.float64]

TRANSFORMERS = "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SelectKBest, SimpleImputer, PCA, TruncatedSVD"


@dataclass(frozen=True, eq=False)
class Before:
    """All that a Pipeline does to raw numbers before its estimator sees them.

    Raw feature j becomes `(x[j] - offset[j]) * multiplier[j]`, or `fill[j]` where it is missing. Of these the first
    projection (or else the estimator) sees the `columns`, in this order; a projection is a pair A, b of `A v + b`.
    """

    offset: Floats
    multiplier: Floats
    columns: NDArray[np.intp]
    fill: Floats | None = None
    projections: tuple[tuple[Floats, Floats], ...] = ()

    @classmethod
    def nothing(cls, n_features: int) -> "Before":
        """No transformer at all."""
        return cls(np.zeros(n_features), np.ones(n_features), np.arange(n_features))

    @property
    def only_selects(self) -> bool:
        """Whether the numbers that the estimator sees are raw ones."""
        untouched = not self.offset.any() and bool((self.multiplier == 1).all())
        return untouched and self.fill is None and not self.projections

    @property
    def does_nothing(self) -> bool:
        """Whether the estimator sees the raw rows as they are."""
        return self.only_selects and np.array_equal(self.columns, np.arange(len(self.offset)))

    def scaled(self, offset: Any, multiplier: Any) -> "Before":
        """With `(v - o) * m` behind it, for each value v that comes out so far."""
        if self.projections:
            *earlier, (weights, bias) = self.projections
            o, m = (np.broadcast_to(np.asarray(part, np.float64), len(bias)) for part in (offset, multiplier))
            return replace(self, projections=(*earlier, (weights * m[:, None], (bias - o) * m)))
        o, m = (np.broadcast_to(np.asarray(part, np.float64), len(self.columns)) for part in (offset, multiplier))
        offsets, multipliers = self.offset.copy(), self.multiplier.copy()
        offsets[self.columns] += o / self.multiplier[self.columns]
        multipliers[self.columns] *= m
        fill = self.fill
        if fill is not None:
            fill = fill.copy()
            fill[self.columns] = (fill[self.columns] - o) * m
        return replace(self, offset=offsets, multiplier=multipliers, fill=fill)

    def selected(self, support: NDArray[np.intp]) -> "Before":
        """With only these of the values that come out so far."""
        if not self.projections:
            return replace(self, columns=self.columns[support])
        *earlier, (weights, bias) = self.projections
        return replace(self, projections=(*earlier, (weights[support], bias[support])))

    def filled(self, statistics: Floats) -> "Before":
        """With these values for missing ones."""
        fill = np.zeros(len(self.offset))
        fill[self.columns] = statistics
        return replace(self, fill=fill)

    def projected(self, weights: Floats, bias: Floats) -> "Before":
        """With `A v + b` behind it."""
        return replace(self, projections=(*self.projections, (weights, bias)))

    # As steps of a float32 Program.

    def steps(self) -> list[Input | Linear]:
        """The Input, in which left out features are multiplied with 0, and the projections."""
        kept = np.isin(np.arange(len(self.offset)), self.columns)
        scaling: dict[str, Any] = {}
        if (kept & (self.offset != 0)).any():
            scaling["offset"] = np.where(kept, self.offset, 0).astype(np.float32)
        if not (kept & (self.multiplier == 1)).all():
            scaling["multiplier"] = np.where(kept, self.multiplier, 0).astype(np.float32)
        if self.fill is not None:
            scaling |= {"missing": "nan", "fill": np.where(kept, self.fill, 0).astype(np.float32)}
        first = Input("float32", len(self.offset), output="float32", **scaling)
        linears = []
        for index, (weights, bias) in enumerate(self.projections):
            linears.append(float_linear(weights if index else self.spread(weights), bias))
        return [first, *linears]

    def seen(self, matrix: Floats) -> Floats:
        """Weights or points of the estimator, with a column for each value that the step before it gives."""
        return matrix if self.projections else self.spread(matrix)

    def spread(self, matrix: NDArray[Any], absent: float = 0) -> NDArray[Any]:
        """Columns for the features that are seen → columns for all raw ones."""
        wide = np.full((len(matrix), len(self.offset)), absent, matrix.dtype)
        wide[:, self.columns] = matrix
        return wide


def float_linear(weights: Floats, bias: Any, activation: str = "none") -> Linear:
    """A Linear of a float32 Program."""
    biases = np.broadcast_to(np.asarray(bias, np.float32), len(weights))
    return Linear(Matrix.pack(weights, "float32"), biases if biases.any() else None, activation)


def take_apart(model: Any) -> tuple[Before, Any]:
    """A fitted estimator, or a Pipeline that ends in one → what stands before it, and the estimator itself."""
    *transformers, estimator = _flat(model)
    for each in (*transformers, estimator):
        _require_fitted(each)
    first = transformers[0] if transformers else estimator
    before = Before.nothing(first.n_features_in_)
    for each in transformers:
        before = _after(before, each)
    return before, estimator


def _flat(model: Any) -> Iterator[Any]:
    """The steps of a Pipeline, those of Pipelines inside it too."""
    if type(model) is not Pipeline:
        yield model
        return
    for _, step in model.steps:
        if step is not None and not isinstance(step, str):  # "passthrough"
            yield from _flat(step)


def _require_fitted(each: Any) -> None:
    try:
        check_is_fitted(each)
    except NotFittedError:
        raise UsageError(f"this {type(each).__name__} is not fitted yet: call fit before to_program") from None
    except TypeError:
        raise UsageError(f"{_name(each)} cannot become a Program: give to_program a fitted estimator") from None
    if not hasattr(each, "n_features_in_"):
        raise UsageError(f"{_name(each)} does not say how many features it takes, so it cannot become a Program")


def _name(thing: Any) -> str:
    return thing.__name__ if isinstance(thing, type) else type(thing).__name__


def _after(before: Before, step: Any) -> Before:
    """What a transformer adds to those before it."""
    kind = type(step)
    _refuse_options(step)
    if kind is StandardScaler:
        return before.scaled(step.mean_ if step.with_mean else 0.0, 1 / (step.scale_ if step.with_std else 1.0))
    if kind is RobustScaler:
        centre, scale = step.center_ if step.with_centering else 0.0, step.scale_ if step.with_scaling else 1.0
        return before.scaled(centre, 1 / scale)
    if kind is MaxAbsScaler:
        return before.scaled(0.0, 1 / step.scale_)
    if kind is MinMaxScaler:
        return before.scaled(-step.min_ / step.scale_, step.scale_)
    if kind is SelectKBest:
        return before.selected(step.get_support(indices=True))
    if kind is SimpleImputer:
        return before if before.fill is not None else before.filled(step.statistics_.astype(np.float64))
    if kind is PCA:
        scale = np.sqrt(step.explained_variance_)[:, None] if step.whiten else 1.0
        weights = step.components_ / np.maximum(scale, np.finfo(step.components_.dtype).eps)
        return before.projected(weights, -weights @ step.mean_)
    if kind is TruncatedSVD:
        return before.projected(step.components_, np.zeros(len(step.components_)))
    raise UsageError(
        f"{kind.__name__} before an estimator cannot become a part of a Program; these can: {TRANSFORMERS}"
    )


def _refuse_options(step: Any) -> None:
    """What a transformer of a known kind may be told to do that no Input does."""
    kind = type(step)
    if kind in (MinMaxScaler, MaxAbsScaler) and getattr(step, "clip", False):
        raise UsageError(f"{kind.__name__}(clip=True) cannot become a part of a Program: fit it with clip=False")
    if kind is not SimpleImputer:
        return
    marker = step.missing_values
    if not (isinstance(marker, float) and np.isnan(marker)):
        raise UsageError(f"SimpleImputer fills what is marked by {marker!r}: for a Program, mark missing values by NaN")
    if step.add_indicator:
        raise UsageError("SimpleImputer(add_indicator=True) cannot become a part of a Program: fit it without")
    if np.isnan(step.statistics_.astype(np.float64)).any():
        raise UsageError("SimpleImputer drops a feature that had no values in fit: leave that feature out of the rows")

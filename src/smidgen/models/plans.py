"""Plans: what sizes a byte budget buys. Pure functions, printable, and honest about bytes before anything is trained.

A plan says how wide, how many, how sparse and in which formats. Its account (`n_bytes`) is never less than what the
Program takes: exact for what is stored dense, a bound for the rest; the room for the sparse projection is a number of
bytes, which training fills exactly once it knows which entries stay. The rules come from plans found by search on a
dozen sets (docs/protonn.md, docs/sparsenet.md). May import core, `budget` beside it and the errors.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from smidgen.core.rounding import GRIDS
from smidgen.errors import BudgetError
from smidgen.models.budget import largest_that_fits
from smidgen.program.checks import counted
from smidgen.program.storage import Format

BITS = {"int4": 4, "int8": 8, "float32": 32}
TABLE_BYTES = 33  # of the Gaussian, at the most
TYPICAL_MEAN = 64  # of a feature's bytes
OUTPUT_BIAS_BYTES = 4
LEAST_ENTRIES = 2  # of a row of the projection: an empty row would want an endless bias
LABELS_A_PROTOTYPE = 4
DENSE_SHARE = 0.35  # of a budget that the projection may take

AnyPlan = TypeVar("AnyPlan", "ProtoNNPlan", "SparseNetPlan")


# What matrices take.


def dense_bytes(rows: int, columns: int, weight_format: str) -> int:
    """Return the bytes of a matrix of which every number is stored."""
    return rows * math.ceil(columns * BITS[weight_format] / 8)


def most_bytes(n_entries: int, rows: int, columns: int, weight_format: str) -> int:
    """Return a bound for the smallest storage, wherever the entries are.

    >>> most_bytes(160, 10, 80, "int4"), most_bytes(800, 10, 80, "int4")
    (185, 400)
    """
    bits, counts = BITS[weight_format], rows * (1 if columns <= 255 else 2)
    sizes = [
        dense_bytes(rows, columns, weight_format),
        rows * math.ceil(columns / 8) + math.ceil((n_entries * bits + 4 * rows) / 8),
        counts + math.ceil((n_entries + rows * (columns // 256)) * (1 + bits / 8) + rows / 2),
    ]
    if weight_format == "int4":
        sizes.append(counts + n_entries + rows * (columns // 16))
    return min(sizes)


def expected_bytes(n_entries: int, rows: int, columns: int, weight_format: str) -> float:
    """Return what the smallest storage is expected to take, for entries scattered at random.

    >>> round(expected_bytes(408, 26, 784, "int4")), round(expected_bytes(20_384, 26, 784, "int4"))
    (642, 10192)
    """
    bits, density = BITS[weight_format], n_entries / (rows * columns)
    counts = rows * (1 if n_entries / rows <= 255 else 2)
    sizes = [
        dense_bytes(rows, columns, weight_format),
        rows * math.ceil(columns / 8) + n_entries * bits / 8 + rows * (bits == 4) / 4,
        counts + n_entries * (1 + _fillers(density, 256)) * (1 + bits / 8),
    ]
    if weight_format == "int4":
        sizes.append(counts + n_entries * (1 + _fillers(density, 16)))
    return min(sizes)


def _fillers(density: float, reach: int) -> float:
    """How many entries of value 0 a gap needs on average, where one entry bridges less than `reach` columns."""
    missed = (1 - density) ** (reach - 1)
    return missed / (1 - missed) if missed < 1 else math.inf


def entries_within(n_bytes: float, rows: int, columns: int, weight_format: str) -> int:
    """Return how many entries the bytes are expected to hold: at least two a row, at most all."""
    least, most = rows * min(LEAST_ENTRIES, columns), rows * columns
    if dense_bytes(rows, columns, weight_format) <= n_bytes:
        return most
    found = largest_that_fits(
        lambda n: math.ceil(expected_bytes(n, rows, columns, weight_format)), math.floor(n_bytes), least, most
    )
    return least if found is None else found


def _largest_bias(entries_a_row: float, weight_format: str) -> int:
    grid = GRIDS[weight_format]
    wide = grid is None or entries_a_row * grid.high * TYPICAL_MEAN >= 2**15
    return 2**31 - 1 if wide else 2**15 - 1


def _bias_bytes(largest_bias: int, weight_format: str) -> int:
    return 4 if weight_format == "float32" or largest_bias >= 2**15 else 2


# ProtoNN.


@dataclass(frozen=True)
class ProtoNNPlan:
    """The sizes of a ProtoNN.

    Parameters
    ----------
    n_features, n_outputs : int
        What comes in, and how many scores go out.
    width : int
        The height of the projection W.
    n_prototypes : int
    n_labels : int
        How many labels each prototype keeps in Z.
    projection_bytes : int
        The room for W.
    formats : mapping
        Of "projection", "prototypes" and "labels".
    input_bytes : int
        What the Input's own constants take, and of values the scale in Decide.
    output_bias : bool
        Whether the scores have a bias.
    projection_is_fixed : bool
        Whether the density of W was given by hand: then it is not filled up.
    """

    n_features: int
    n_outputs: int
    width: int
    n_prototypes: int
    n_labels: int
    projection_bytes: int
    formats: Mapping[str, Format]
    input_bytes: int = 0
    output_bias: bool = False
    projection_is_fixed: bool = False

    @property
    def is_float(self) -> bool:
        """Whether it is a plan for real numbers."""
        return self.formats["projection"] == "float32"

    @property
    def largest_bias(self) -> int:
        """What the projection's whole bias is clipped to: int16 where so many entries a row hardly need more."""
        return _largest_bias(self.n_entries / self.width, self.formats["projection"])

    @property
    def label_bytes(self) -> int:
        """Z, at the most."""
        return most_bytes(self.n_prototypes * self.n_labels, self.n_outputs, self.n_prototypes, self.formats["labels"])

    @property
    def bytes_but_projection(self) -> int:
        """Prototypes, labels, biases, the Gaussian's table and the Input's constants, at the most."""
        return (
            self.input_bytes
            + dense_bytes(self.n_prototypes, self.width, self.formats["prototypes"])
            + self.label_bytes
            + self.width * _bias_bytes(self.largest_bias, self.formats["projection"])
            + OUTPUT_BIAS_BYTES * self.n_outputs * self.output_bias
            + (0 if self.is_float else TABLE_BYTES)
        )

    @property
    def n_bytes(self) -> int:
        """All constants, at the most."""
        return self.projection_bytes + self.bytes_but_projection

    @property
    def n_entries(self) -> int:
        """How many entries of W its room is expected to hold."""
        return entries_within(self.projection_bytes, self.width, self.n_features, self.formats["projection"])


def plan_protonn(
    budget: int,
    n_features: int,
    n_outputs: int,
    formats: Mapping[str, Format],
    *,
    width: int | None = None,
    n_prototypes: int | None = None,
    n_labels: int | None = None,
    density: float | None = None,
    most_prototypes: int = 65_535,
    least_prototypes: int = 1,
    input_bytes: int = 0,
    output_bias: bool = False,
    width_factor: float = 1.0,
    all_labels: bool = False,
    projection_share: float = DENSE_SHARE,
) -> ProtoNNPlan:
    """Spend a budget on a ProtoNN; what is given by hand stays as given.

    Parameters
    ----------
    budget : int
        Bytes for all constants.
    n_features, n_outputs : int
    formats : mapping
        Of "projection", "prototypes" and "labels".
    width, n_prototypes, n_labels : int, optional
    density : float, optional
        The share of W's entries that stay.
    most_prototypes, least_prototypes : int
        No more than there are rows; no fewer than there are classes.
    input_bytes, output_bias
        As a plan has them.
    width_factor, all_labels, projection_share
        What held-out rows may change about the rule.

    Examples
    --------
    >>> formats = {"projection": "int4", "prototypes": "int4", "labels": "int4"}
    >>> plan = plan_protonn(2048, 784, 10, formats)
    >>> plan.width, plan.n_prototypes, plan.n_labels, plan.projection_bytes, plan.n_bytes
    (16, 112, 4, 718, 2048)
    """
    all_labels = all_labels or wants_all_labels(n_features, n_outputs)
    few = min(LABELS_A_PROTOTYPE if n_labels is None else n_labels, n_outputs)
    half_would_be_labels = dense_bytes(least_prototypes, n_outputs, formats["labels"]) > budget // 2
    n_labels_tried = [n_outputs, few] if n_labels is None and all_labels and not half_would_be_labels else [few]

    def with_sizes(h: int, m: int, projection_bytes: int, n_labels: int = few) -> ProtoNNPlan:
        return ProtoNNPlan(
            n_features,
            n_outputs,
            h,
            m,
            n_labels,
            projection_bytes,
            formats,
            input_bytes,
            output_bias,
            density is not None,
        )

    wanted = protonn_width(n_features, n_outputs, width_factor) if width is None else width
    for votes, h in product(n_labels_tried, _narrower(wanted, fixed=width is not None)):
        for room in _projection_rooms(
            budget, h, n_features, formats["projection"], density=density, share=projection_share
        ):
            n_bytes_of = lambda m, h=h, room=room, votes=votes: with_sizes(h, m, room, votes).n_bytes  # noqa: E731
            least = least_prototypes if n_prototypes is None else n_prototypes
            most = most_prototypes if n_prototypes is None else n_prototypes
            m = largest_that_fits(n_bytes_of, budget, least, max(most, least))
            if m is not None:
                plan = with_sizes(h, m, room, votes)
                dense = dense_bytes(h, n_features, formats["projection"])
                spare = 0 if density is not None else max(0, min(budget - plan.n_bytes, dense - room))
                return _trimmed(replace(plan, projection_bytes=room + spare), budget, room)
    smallest = with_sizes(
        wanted if width is not None else 1,
        least_prototypes if n_prototypes is None else n_prototypes,
        min(_projection_rooms(0, width or 1, n_features, formats["projection"], density=density, share=0)),
    )
    raise BudgetError(
        f"a ProtoNN of this kind does not fit into {counted(budget, 'byte')}: it takes {smallest.n_bytes}"
    )


def wants_all_labels(n_features: int, n_outputs: int) -> bool:
    """Say whether every prototype needs a vote for every class: where they are few, or many among few features."""
    return n_outputs <= LABELS_A_PROTOTYPE or n_features < 2 * n_outputs


def protonn_width(n_features: int, n_outputs: int, factor: float = 1.0) -> int:
    """Return the rule's width: 12 and half the classes, not much more than the features; even, so no nibble is lost."""
    most = max(n_features, min(2 * n_features, 8))
    wanted = min(12 + n_outputs / 2, most) * factor
    return max(1, min(2 * round(wanted / 2), math.ceil(1.5 * most)))


def _narrower(width: int, *, fixed: bool) -> Iterator[int]:
    """Widths to try, until one leaves room for the rest."""
    yield width
    while width > 1 and not fixed:
        width = width * 7 // 8
        yield width


def _trimmed(plan: AnyPlan, budget: int, least: int) -> AnyPlan:
    """Take room from the projection where its entries, being so many, want wider biases than the budget holds."""
    excess = max(0, plan.n_bytes - budget)
    return replace(plan, projection_bytes=max(least, plan.projection_bytes - excess))


def _projection_rooms(
    budget: int, rows: int, columns: int, weight_format: str, *, density: float | None, share: float
) -> list[int]:
    """Return the bytes W may take, the most wanted first."""
    dense = dense_bytes(rows, columns, weight_format)
    least = min(dense, most_bytes(rows * min(LEAST_ENTRIES, columns), rows, columns, weight_format))
    if density is not None:
        n_entries = max(rows * min(LEAST_ENTRIES, columns), round(density * rows * columns))
        return [max(least, math.ceil(expected_bytes(n_entries, rows, columns, weight_format)))]
    return [max(least, min(dense, math.floor(share * budget))), least]


# The pruned network.


@dataclass(frozen=True)
class SparseNetPlan:
    """The sizes of a pruned network with one hidden layer.

    Parameters
    ----------
    n_features, n_outputs : int
    n_hidden : int
        Units of the hidden layer.
    projection_bytes : int
        The room for W.
    formats : mapping
        Of "projection" and "outputs".
    input_bytes : int
        What the Input's own constants take, and of values the scale in Decide.
    projection_is_fixed : bool
        Whether the density of W was given by hand: then it is not filled up.
    """

    n_features: int
    n_outputs: int
    n_hidden: int
    projection_bytes: int
    formats: Mapping[str, Format]
    input_bytes: int = 0
    projection_is_fixed: bool = False

    @property
    def largest_bias(self) -> int:
        """What the hidden layer's whole bias is clipped to: int16 where so many entries a row hardly need more."""
        return _largest_bias(self.n_entries / self.n_hidden, self.formats["projection"])

    @property
    def bytes_but_projection(self) -> int:
        """The second layer, both biases and the Input's constants."""
        return (
            self.input_bytes
            + dense_bytes(self.n_outputs, self.n_hidden, self.formats["outputs"])
            + self.n_hidden * _bias_bytes(self.largest_bias, self.formats["projection"])
            + OUTPUT_BIAS_BYTES * self.n_outputs
        )

    @property
    def n_bytes(self) -> int:
        """All constants, at the most."""
        return self.projection_bytes + self.bytes_but_projection

    @property
    def n_entries(self) -> int:
        """How many entries of W its room is expected to hold."""
        return entries_within(self.projection_bytes, self.n_hidden, self.n_features, self.formats["projection"])


def plan_sparsenet(
    budget: int,
    n_features: int,
    n_outputs: int,
    formats: Mapping[str, Format],
    *,
    n_hidden: int | None = None,
    density: float | None = None,
    most_hidden: int = 65_535,
    input_bytes: int = 0,
    width_factor: float = 1.0,
) -> SparseNetPlan:
    """Spend a budget on a pruned network; what is given by hand stays as given.

    Parameters are those of `plan_protonn`; beyond `most_hidden` units only `width_factor` goes.

    Examples
    --------
    >>> plan = plan_sparsenet(2048, 784, 10, {"projection": "int4", "outputs": "int4"})
    >>> plan.n_hidden, plan.projection_bytes, plan.n_bytes
    (46, 1686, 2048)
    """

    def with_sizes(h: int, room: int) -> SparseNetPlan:
        return SparseNetPlan(n_features, n_outputs, h, room, formats, input_bytes, density is not None)

    weight_format = formats["projection"]

    def bytes_if_dense(h: int) -> int:
        return with_sizes(h, dense_bytes(h, n_features, weight_format)).n_bytes

    wanted = n_hidden
    if wanted is None:
        a_unit = 4 + BITS[weight_format] / 4 * (n_outputs / 2 + min(n_features / 2, 6 + math.sqrt(n_features)))
        by_rule = int((budget - input_bytes - OUTPUT_BIAS_BYTES * n_outputs) / a_unit)
        by_filling = largest_that_fits(bytes_if_dense, budget, 1, most_hidden) or 0  # with few features W is dense
        wanted = max(2, int(min(most_hidden, max(by_rule, by_filling)) * width_factor))
        wanted -= wanted % 2
    for h in _narrower(wanted, fixed=n_hidden is not None):
        rest = budget - with_sizes(h, 0).bytes_but_projection
        least = min(_projection_rooms(0, h, n_features, weight_format, density=density, share=0))
        for room in _projection_rooms(max(rest, 0), h, n_features, weight_format, density=density, share=1.0):
            found = _trimmed(with_sizes(h, room), budget, least)
            if found.n_bytes <= budget:
                return found
    h = n_hidden or 1
    smallest = with_sizes(h, min(_projection_rooms(0, h, n_features, weight_format, density=density, share=0)))
    raise BudgetError(
        f"a network of this kind does not fit into {counted(budget, 'byte')}: it takes {smallest.n_bytes}"
    )

"""Draws prototypes.svg: rows of two classes, their prototypes, and the class that each place is nearest to.

python docs/pictures/prototypes.py
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons

from smidgen import PrototypeClassifier

PLACE = Path(__file__).with_suffix(".svg")
COLOURS = ("#3b6ea5", "#d9822b")
STEP = 4  # the raster of the background: one place in so many raw units


def rows() -> tuple[np.ndarray, np.ndarray]:
    """Two crescents, in the units of a sensor that gives bytes."""
    X, y = make_moons(220, noise=0.16, random_state=0)
    low, high = X.min(axis=0), X.max(axis=0)
    return np.rint(20 + 215 * (X - low) / (high - low)).astype(np.uint8), y


def background(model: PrototypeClassifier) -> list[str]:
    """A strip for each run of places in a line of the raster that belong to one class."""
    ticks = np.arange(0, 256, STEP)
    strips = []
    for top in ticks:
        classes = model.predict(np.column_stack([ticks, np.full(len(ticks), top)]))
        starts = np.flatnonzero(np.diff(classes, prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(ticks)], strict=True):
            strips.append(
                f'<rect x="{STEP * start}" y="{top}" width="{STEP * (end - start)}" height="{STEP}" '
                f'fill="{COLOURS[classes[start]]}" fill-opacity="0.18"/>'
            )
    return strips


def picture() -> str:
    """The drawing as SVG."""
    X, y = rows()
    model = PrototypeClassifier(8, random_state=0).fit(X, y)
    dots = [
        f'<circle cx="{x}" cy="{down}" r="2" fill="{COLOURS[label]}"/>' for (x, down), label in zip(X, y, strict=True)
    ]
    marks = [
        f'<rect x="{x - 5:g}" y="{down - 5:g}" width="10" height="10" fill="{COLOURS[label]}" stroke="#111"/>'
        for (x, down), label in zip(model.prototypes_, model.prototype_classes_, strict=True)
    ]
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 256 256" width="420" height="420">'
    return "\n".join(
        [head, '<rect width="256" height="256" fill="#fff"/>', *background(model), *dots, *marks, "</svg>\n"]
    )


if __name__ == "__main__":
    PLACE.write_text(picture())

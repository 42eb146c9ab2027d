"""Draws protonn.svg: digits projected into a plane, the prototypes there, and the digit that each place stands for.

python docs/pictures/protonn.py
"""

from pathlib import Path

import numpy as np

from smidgen import Program, ProtoNNClassifier, load_dataset
from smidgen.program import Input

PLACE = Path(__file__).with_suffix(".svg")
DIGITS = (0, 1, 4, 6, 7)
COLOURS = ("#3b6ea5", "#d9822b", "#4a9c5d", "#b0475b", "#7a5fa8")
STEP = 8  # the raster of the background: one place in so many counts
N_DOTS, N_PROTOTYPES = 180, 10


def background(program: Program) -> list[str]:
    """A strip for each run of places in a line of the raster that get the same answer."""
    after_projection = Program((Input("uint8", 2), *program.steps[2:]))  # two bytes in
    ticks = np.arange(0, 256, STEP)
    strips = []
    for top in ticks:
        classes = after_projection.predict(np.column_stack([ticks, np.full(len(ticks), top)]))
        starts = np.flatnonzero(np.diff(classes, prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(ticks)], strict=True):
            strips.append(
                f'<rect x="{STEP * start}" y="{top}" width="{STEP * (end - start)}" height="{STEP}" '
                f'fill="{COLOURS[classes[start]]}" fill-opacity="0.18"/>'
            )
    return strips


def picture() -> str:
    """The drawing as SVG."""
    digits = load_dataset("digits")
    chosen = np.isin(digits.y_train, DIGITS)
    X, y = digits.X_train[chosen], np.searchsorted(DIGITS, digits.y_train[chosen])
    model = ProtoNNClassifier(width=2, n_prototypes=N_PROTOTYPES, trial=False, n_steps=1500, random_state=0).fit(X, y)
    distance, votes = model.program_.steps[2:4]
    points = distance.zero + (distance.points.values.astype(int) << distance.shift)
    favoured = votes.weights.values.argmax(axis=0)
    projected = model.program_.trace(X[:N_DOTS])[1]
    dots = [
        f'<circle cx="{x:g}" cy="{down:g}" r="2" fill="{COLOURS[label]}"/>'
        for (x, down), label in zip(projected, y[:N_DOTS], strict=True)
    ]
    marks = [
        f'<rect x="{x - 5}" y="{down - 5}" width="10" height="10" fill="{COLOURS[label]}" stroke="#111"/>'
        for (x, down), label in zip(points, favoured, strict=True)
    ]
    legend = [
        f'<text x="264" y="{20 + 16 * place}" font-size="13" font-family="sans-serif" fill="{colour}">{digit}</text>'
        for place, (digit, colour) in enumerate(zip(DIGITS, COLOURS, strict=True))
    ]
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 280 256" width="460" height="420">'
    sheet = '<rect width="280" height="256" fill="#fff"/>'
    return "\n".join([head, sheet, *background(model.program_), *dots, *marks, *legend, "</svg>\n"])


if __name__ == "__main__":
    PLACE.write_text(picture())

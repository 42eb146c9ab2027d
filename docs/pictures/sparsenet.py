"""Draws sparsenet.svg: what the hidden units of a network for digits look at, and which digits each speaks for.

python docs/pictures/sparsenet.py
"""

from pathlib import Path

import numpy as np

from smidgen import SparseNetClassifier, load_dataset

PLACE = Path(__file__).with_suffix(".svg")
FOR, AGAINST = "#3b6ea5", "#d9822b"
N_HIDDEN, A_ROW = 12, 6
PIXEL, BAR = 10, 8  # sizes: a digit has 8 by 8 pixels, and 10 bars stand below
TALLEST = 18  # bar
WIDE, HIGH = 8 * PIXEL + 16, 8 * PIXEL + 2 * TALLEST + 30


def unit(weights: np.ndarray, votes: np.ndarray, left: int, top: int) -> list[str]:
    """One hidden unit: its pixels, and a bar for each digit."""
    shapes = [f'<rect x="{left}" y="{top}" width="{8 * PIXEL}" height="{8 * PIXEL}" fill="#f4f4f4" stroke="#999"/>']
    for place in np.flatnonzero(weights):
        down, right = divmod(int(place), 8)
        shapes.append(
            f'<rect x="{left + PIXEL * right}" y="{top + PIXEL * down}" width="{PIXEL}" height="{PIXEL}" '
            f'fill="{FOR if weights[place] > 0 else AGAINST}" fill-opacity="{abs(weights[place]):.2f}"/>'
        )
    middle = top + 8 * PIXEL + TALLEST + 4
    for digit, vote in enumerate(votes):
        height = TALLEST * abs(vote)
        shapes.append(
            f'<rect x="{left + BAR * digit + 1}" y="{middle - (height if vote > 0 else 0):.1f}" width="{BAR - 2}" '
            f'height="{height:.1f}" fill="{FOR if vote > 0 else AGAINST}"/>'
        )
        shapes.append(f'<text x="{left + BAR * digit + 1.5}" y="{middle + TALLEST + 9}">{digit}</text>')
    return shapes


def picture() -> str:
    """The drawing as SVG."""
    digits = load_dataset("digits")
    model = SparseNetClassifier(n_hidden=N_HIDDEN, density=0.2, trial=False, n_steps=1500, random_state=0)
    model.fit(digits.X_train, digits.y_train)
    weights = model.projection_ / np.abs(model.projection_).max()
    votes = model.output_weights_.T / np.abs(model.output_weights_).max()
    shapes = [
        shape
        for number in range(N_HIDDEN)
        for shape in unit(weights[number], votes[number], 8 + WIDE * (number % A_ROW), 8 + HIGH * (number // A_ROW))
    ]
    width, height = WIDE * A_ROW, HIGH * (N_HIDDEN // A_ROW)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
    font = 'font-size="8" font-family="sans-serif" fill="#555">'
    return "\n".join([head + font, f'<rect width="{width}" height="{height}" fill="#fff"/>', *shapes, "</svg>\n"])


if __name__ == "__main__":
    PLACE.write_text(picture())

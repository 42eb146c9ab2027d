"""Accuracy against bytes: what each byte buys a ProtoNN and a pruned network on the handwritten digits.

    python examples/accuracy_against_bytes.py [PICTURE] [--n-steps N]

PICTURE is where the plot goes, an .svg or a .png: accuracy_against_bytes.svg in the folder you are in, unless you say
so. Every point is an integer Program's own accuracy on rows that no training saw, over the bytes of its constants.
"""

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")  # a file, not a window

import matplotlib.pyplot as plt

from smidgen import ProtoNNClassifier, SparseNetClassifier, load_dataset

BUDGETS = (256, 512, 1024, 2048)  # bytes


def main() -> None:
    parser = argparse.ArgumentParser(description="Plot accuracy against bytes on the digits.")
    parser.add_argument("picture", nargs="?", type=Path, default=Path("accuracy_against_bytes.svg"))
    parser.add_argument("--n-steps", type=int, help="training steps, for a quick look")
    arguments = parser.parse_args()

    digits = load_dataset("digits")
    models = {
        "ProtoNN": ProtoNNClassifier(n_steps=arguments.n_steps, random_state=0),
        "SparseNet": SparseNetClassifier(n_steps=arguments.n_steps, random_state=0),
    }
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, model in models.items():
        points = []
        for budget in BUDGETS:
            model.set_params(budget=budget).fit(digits.X_train, digits.y_train)
            n_bytes = model.program_.cost().model_bytes
            points.append((n_bytes, 100 * model.score(digits.X_test, digits.y_test)))
            print(f"{name:9} {budget:5} allowed {n_bytes:5} taken {points[-1][1]:6.1f} % right")
        axes.plot(*zip(*points, strict=True), marker="o", label=name)

    axes.set_xscale("log", base=2)
    axes.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
    axes.set(xlabel="bytes of constants", ylabel="test rows right, %", title="Digits: accuracy against bytes")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(arguments.picture)
    print(f"drawn: {arguments.picture.name}")


if __name__ == "__main__":
    main()

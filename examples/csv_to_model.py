"""From a CSV of sensor rows to a model of a few hundred bytes, as a firmware engineer would.

    python examples/csv_to_model.py [FILE.csv TARGET]

Without a file it makes one up: the acceleration of a hand that rests or makes one of four gestures, in milli-g.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from smidgen import PrototypeClassifier, read_table, to_program
from smidgen.data import hold_out


def write_gestures(path: Path) -> None:
    """Mean, spread and peak of three axes; a semicolon delimits, as spreadsheets in much of Europe write it."""
    rng = np.random.default_rng(0)
    spreads = {
        "rest": (10, 10, 10),
        "wave": (400, 90, 60),
        "knock": (70, 60, 400),
        "circle": (300, 300, 70),
        "shake": (250, 250, 250),
    }
    lines = [";".join(f"{what}_{axis}" for what in ("mean", "spread", "peak") for axis in "xyz") + ";gesture"]
    for _ in range(200):
        for gesture, spread in spreads.items():
            mean = rng.normal((0, 0, 1000), 150)
            vigour = rng.uniform(0.3, 1.5)  # no two people wave alike
            deviation = vigour * np.abs(rng.normal(spread, np.array(spread) / 4))
            peak = np.abs(mean) + deviation * rng.uniform(2, 4, 3)
            lines.append(";".join(f"{value:.0f}" for value in (*mean, *deviation, *peak)) + f";{gesture}")
    path.write_text("\n".join(lines) + "\n")


def report(path: Path, target: str) -> None:
    """Train under a few budgets, and say what each buys."""
    table = read_table(path, target=target)
    print(table)
    rows = hold_out(table.X, table.y, table.feature_names)
    for budget in (64, 128, 256, 512, 1024):
        model = PrototypeClassifier(budget=budget, random_state=0).fit(rows.X_train, rows.y_train)
        program = to_program(model)
        cost = program.cost()
        right = 100 * model.score(rows.X_test, rows.y_test)
        print(f"{cost.model_bytes:4} bytes of flash, {cost.ram_bytes} of RAM: {right:.1f} % of held-out rows right")
    print(f"the last one takes {program.input.describe()}")
    print(f"the first held-out row is {program.predict(rows.X_test[:1])[0]} to it, and was {rows.y_test[0]}")


def main(arguments: list[str]) -> None:
    if arguments:
        report(Path(arguments[0]), arguments[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gestures.csv"
        write_gestures(path)
        report(path, "gesture")


if __name__ == "__main__":
    main(sys.argv[1:])

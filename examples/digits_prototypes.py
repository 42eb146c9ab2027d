"""Digits in a kilobyte: a table → an estimator → a Program → a file → answers.

python examples/digits_prototypes.py
"""

import tempfile
from pathlib import Path

from smidgen import PrototypeClassifier, load_dataset, load_program, to_program


def main() -> None:
    digits = load_dataset("digits")
    print(digits)

    model = PrototypeClassifier(budget="1kB", random_state=0).fit(digits.X_train, digits.y_train)
    print(f"{len(model.prototypes_)} prototypes, {100 * model.score(digits.X_test, digits.y_test):.1f} % right")

    program = to_program(model)
    print(program.describe())

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.smg"
        program.save(path)
        loaded = load_program(path)

    same = int((loaded.predict(digits.X_test) == model.predict(digits.X_test)).sum())
    print(f"the file and the estimator agree on {same} of {len(digits.y_test)} rows")


if __name__ == "__main__":
    main()

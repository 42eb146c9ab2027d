"""A Program written by hand: which of three colours does a light sensor see?

    python examples/program_by_hand.py

Four reference readings (one of red, one of green, two of white) stand in 4 bits a number, and the nearest one wins.
"""

import numpy as np

from smidgen import Program
from smidgen.errors import ProgramError
from smidgen.program import Decide, Distance, GroupReduce, Input, Matrix

REFERENCES = np.array([[208, 48, 32], [64, 192, 64], [240, 240, 240], [160, 160, 144]])  # red, green, white, white
COLOURS = ("red", "green", "white")


def nearest_colour() -> Program:
    # int4 points lie on 0, 16, .. 240: 128 + (v << 4)
    points = Matrix.pack((REFERENCES - 128) >> 4, "int4", "dense")
    return Program(
        (
            Input("uint8", 3),
            Distance(points, zero=128, shift=4),
            GroupReduce(np.array([1, 1, 2], np.uint8), "min"),
            Decide("argmin"),
        ),
        classes=COLOURS,
        feature_names=("R", "G", "B"),
    )


def main() -> None:
    program = nearest_colour()
    print(program.describe())

    readings = [[190, 60, 50], [90, 170, 80], [150, 150, 150]]
    _, distances, least, _ = program.trace(readings)
    for reading, to_each, of_class, answer in zip(readings, distances, least, program.predict(readings), strict=True):
        print(f"{reading}: distances {to_each.astype(int)}, the least of each colour {of_class.astype(int)}: {answer}")

    try:
        Program((Input("uint8", 4), *program.steps[1:]))
    except ProgramError as error:
        print(f"a fourth number a reading is refused: {error}")

    constants = {name: size for step in program.cost().steps for name, size in step.constants.items()}
    print(f"{program.cost().model_bytes} bytes of flash: {constants}")


if __name__ == "__main__":
    main()

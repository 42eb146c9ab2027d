"""Where is the magnet? A pose from six sensors, by whole numbers alone, in a kilobyte.

    python examples/pose_from_six_sensors.py [--n-steps N]

A thumb stick holds a small magnet; under it six Hall sensors stand in a circle, and a 12-bit converter reads them. A
Cortex-M0, which has no floating point, shall say where the magnet is: x, y and its height. Real sensors differ in gain
and offset, drift with the temperature and are noisy, so the rows come from a calibration rig: it moves the stick to
places it knows and records the counts, over three warm-ups of the board. A fourth one is for testing.
"""

import argparse

import numpy as np
from sklearn.linear_model import LinearRegression

from smidgen import ProtoNNRegressor, SparseNetRegressor, to_program

OUTPUTS = ("x", "y", "height")
RING = 8.0  # mm from the middle to each sensor
REACH = ((-4.0, 4.0), (-4.0, 4.0), (5.0, 8.0))  # mm that the magnet moves in x, y and height
FIELD = 1.6e5  # counts times mm³: how strong the magnet is
ROWS_A_SESSION = 1_500


def ideal_counts(pose: np.ndarray) -> np.ndarray:
    """The vertical field of an upright dipole at each sensor, by which neither x nor y nor height enters linearly."""
    angle = np.arange(6) * np.pi / 3
    places = np.column_stack([RING * np.cos(angle), RING * np.sin(angle), np.zeros(6)])
    away = places[None, :, :] - pose[:, None, :]
    squared = (away**2).sum(axis=2)
    return FIELD * (3 * away[:, :, 2] ** 2 - squared) / squared**2.5


def sessions(n_sessions: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Raw int16 counts and poses in mm, a pair for each warm-up of one and the same board."""
    gain, offset = rng.normal(1, 0.03, 6), rng.normal(0, 40, 6)  # of this board's sensors, never measured
    recorded = []
    for _ in range(n_sessions):
        low, high = np.array(REACH).T
        pose = rng.uniform(low, high, (ROWS_A_SESSION, 3))
        warmth = np.linspace(0, 1, ROWS_A_SESSION)[:, None] * rng.uniform(0.5, 1.5)
        counts = (
            gain * (1 - 0.01 * warmth) * ideal_counts(pose) + offset + 4 * warmth + rng.normal(0, 4, (len(pose), 6))
        )
        recorded.append((np.clip(np.rint(counts), -2048, 2047).astype(np.int16), pose))
    return recorded


def main() -> None:
    parser = argparse.ArgumentParser(description="A pose from six sensors in a kilobyte.")
    parser.add_argument("--n-steps", type=int, help="training steps, for a quick look")
    n_steps = parser.parse_args().n_steps

    *calibration, (X_test, y_test) = sessions(4, np.random.default_rng(0))
    X, y = (np.concatenate(parts) for parts in zip(*calibration, strict=True))
    print(f"{len(X)} rows of six {X.dtype} counts in {X.min()}..{X.max()}, {len(X_test)} more to test with")
    print(f"a straight line, in floating point: R² {LinearRegression().fit(X, y).score(X_test, y_test):.3f}")

    for regressor in (ProtoNNRegressor, SparseNetRegressor):
        model = regressor(budget="1kB", n_steps=n_steps, random_state=0).fit(X, y)
        error = np.abs(model.predict(X_test) - y_test).mean(axis=0)
        off = ", ".join(f"{name} by {error_mm:.2f} mm" for name, error_mm in zip(OUTPUTS, error, strict=True))
        print(f"\n{regressor.__name__}: R² {model.score(X_test, y_test):.3f}; on average off in {off}")
        program = to_program(model)
        print(program.describe())

    # what the board hands over: whole numbers, and what one of them is worth in mm
    counts, worth = program.run(X_test[:1]).scores[0], program.decide.scale
    pose = ", ".join(f"{name} {value:.1f}" for name, value in zip(OUTPUTS, counts * worth, strict=True))
    print(f"\nthe first test row gives the integers {counts.astype(int).tolist()}, which stand for {pose} mm")


if __name__ == "__main__":
    main()

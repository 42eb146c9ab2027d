import array_api_strict
import numpy as np

from smidgen.core.adam import BETAS, EPSILON, Adam


def by_definition(theta, rates, gradients, schedules):
    """Kingma and Ba's Algorithm 1, a number at a time in plain Python."""
    (first, second), reached = BETAS, []
    for start, rate, *own in zip(theta, rates, *gradients, strict=True):
        value, mean, square = float(start), 0.0, 0.0
        for t, (gradient, schedule) in enumerate(zip(own, schedules, strict=True), start=1):
            mean = first * mean + (1 - first) * gradient
            square = second * square + (1 - second) * gradient**2
            unbiased, unbiased_square = mean / (1 - first**t), square / (1 - second**t)
            value -= schedule * rate * unbiased / (unbiased_square**0.5 + EPSILON)
        reached.append(value)
    return reached


def run(adam, theta, gradients, schedules):
    for gradient, schedule in zip(gradients, schedules, strict=True):
        adam.update(theta, gradient, schedule)
    return theta


def drawn(n_steps=7, n=5):
    draw = np.random.default_rng(0)
    return (
        draw.normal(size=n),
        draw.uniform(0.01, 1, n),
        draw.normal(size=(n_steps, n)),
        draw.uniform(0, 1, n_steps).tolist(),
    )


def test_is_the_paper_s_algorithm_with_a_rate_for_each_parameter():
    theta, rates, gradients, schedules = drawn()
    expected = by_definition(theta, rates, gradients, schedules)
    np.testing.assert_allclose(run(Adam(rates), theta.copy(), gradients, schedules), expected, rtol=1e-12)


def test_updates_in_place_and_a_rate_of_zero_holds_still():
    theta, rates, gradients, schedules = drawn()
    rates[2], before = 0, theta.copy()
    run(Adam(rates), theta, gradients, schedules)
    assert theta[2] == before[2]
    assert (np.delete(theta, 2) != np.delete(before, 2)).all()


def test_a_copy_goes_on_alone():
    theta, rates, gradients, schedules = drawn()
    adam, twin_theta = Adam(rates), theta.copy()
    run(adam, theta, gradients[:3], schedules[:3])
    twin, twin_theta = adam.copy(), theta.copy()
    run(adam, theta, gradients[3:], schedules[3:])
    run(twin, twin_theta, gradients[3:], schedules[3:])
    np.testing.assert_array_equal(twin_theta, theta)
    assert twin.n_updates == adam.n_updates == 7


def test_restricted_it_goes_on_with_what_it_knew_of_the_rest():
    theta, rates, gradients, schedules = drawn()
    index = np.array([4, 1])
    adam, all_of_them = Adam(rates), theta.copy()
    run(adam, theta, gradients[:3], schedules[:3])
    adam.restrict(index)
    fewer = run(adam, theta[index], gradients[3:][:, index], schedules[3:])
    np.testing.assert_array_equal(fewer, run(Adam(rates), all_of_them, gradients, schedules)[index])


def test_on_another_namespace():
    theta, rates, gradients, schedules = drawn()
    strict = [array_api_strict.asarray(part) for part in (theta, rates, gradients)]
    reached = run(Adam(strict[1]), strict[0], [strict[2][i, :] for i in range(7)], schedules)
    np.testing.assert_allclose(np.asarray(reached), run(Adam(rates), theta, gradients, schedules), rtol=1e-12)

/* exp(-x) for x >= 0, to about 1e-7 of its value; 0 where that is below what float32 holds in full. */
static float smidgen_exp_of_minus(float x)
{
    uint8_t halvings;
    float rest, result, power = 0.5f;
    if (!(x < 87.0f)) {
        return 0.0f;
    }
    halvings = (uint8_t)(x * 1.44269504f);
    /* x - halvings * ln 2, in two parts of which the first is exact; 0 <= rest < 0.7 */
    rest = x - (float)halvings * 0.693359375f;
    rest = rest + (float)halvings * 2.12194440e-4f;
    /* Taylor's sum of exp(-rest / 2), squared */
    rest = rest * -0.5f;
    result = 1.388888889e-3f;
    result = result * rest + 8.33333333e-3f;
    result = result * rest + 4.16666667e-2f;
    result = result * rest + 1.66666667e-1f;
    result = result * rest + 0.5f;
    result = result * rest + 1.0f;
    result = result * rest + 1.0f;
    result = result * result;
    for (; halvings; halvings = (uint8_t)(halvings >> 1)) {
        result = (halvings & 1u) ? result * power : result;
        power = power * power;
    }
    return result;
}

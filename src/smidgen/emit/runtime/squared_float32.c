/* The squared distance from x to a point. */
static float smidgen_squared_float32(const float *x, uint16_t n, smidgen_at_t *at)
{
    float sum = 0.0f;
    for (; n; --n) {
        const float gap = *x++ - smidgen_read_float(at);
        sum += gap * gap;
    }
    return sum;
}

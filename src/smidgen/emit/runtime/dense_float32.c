/* sum + one row of weights times x. */
static float smidgen_dense_float32(const float *x, uint16_t n, smidgen_at_t *at, float sum)
{
    for (; n; --n) {
        sum += smidgen_read_float(at) * *x++;
    }
    return sum;
}

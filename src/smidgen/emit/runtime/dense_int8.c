/* sum + one row of int8 weights times x. Sums may wrap on the way: only the result is proved to fit. */
static sum_t smidgen_dense_int8(const uint8_t *x, uint16_t n, smidgen_at_t *at, sum_t sum)
{
    const uint8_t *w = at->bytes;
    for (; n; --n) {
        sum = (sum_t)(sum + (sum_t)((int8_t)smidgen_U8(w++) * (int16_t)*x++));
    }
    at->bytes = w;
    return sum;
}

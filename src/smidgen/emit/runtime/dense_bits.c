/* sum + one row of weights +1 and -1 times x; eight to a byte, the low bit first, a set bit is +1. */
static sum_t smidgen_dense_bits(const uint8_t *x, uint16_t n, smidgen_at_t *at, sum_t sum)
{
    const uint8_t *w = at->bytes;
    uint8_t bits = 0;
    uint16_t i;
    for (i = 0; i < n; ++i) {
        bits = (i & 7u) ? (uint8_t)(bits >> 1) : smidgen_U8(w++);
        sum = (sum_t)((bits & 1u) ? sum + x[i] : sum - x[i]);
    }
    at->bytes = w;
    return sum;
}

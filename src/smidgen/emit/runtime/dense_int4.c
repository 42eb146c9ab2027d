/* sum + one row of int4 weights times x; each is stored as value + 8, two to a byte, the low nibble first. */
static sum_t smidgen_dense_int4(const uint8_t *x, uint16_t n, smidgen_at_t *at, sum_t sum)
{
    const uint8_t *w = at->bytes;
    for (; n; n = (uint16_t)(n - 2)) {
        const uint8_t pair = smidgen_U8(w++);
        sum = (sum_t)(sum + (sum_t)(((int16_t)(pair & 15) - 8) * (int16_t)*x++));
        if (n == 1) {
            break;
        }
        sum = (sum_t)(sum + (sum_t)(((int16_t)(pair >> 4) - 8) * (int16_t)*x++));
    }
    at->bytes = w;
    return sum;
}

/* sum + one sparse row times x: a count; so many times how many columns to skip, and a weight. */
static sum_t smidgen_gap8_int8(const uint8_t *x, smidgen_at_t *at, sum_t sum)
{
    uint16_t n = smidgen_read8(at);
    const uint8_t *w = at->bytes;
    for (; n; --n) {
        x += smidgen_U8(w++);
        sum = (sum_t)(sum + (sum_t)((int8_t)smidgen_U8(w++) * (int16_t)*x++));
    }
    at->bytes = w;
    return sum;
}

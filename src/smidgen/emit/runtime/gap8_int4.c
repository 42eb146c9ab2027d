/* sum + one sparse row times x: a count; so many times how many columns to skip, then as many weights, two to a byte. */
static sum_t smidgen_gap8_int4(const uint8_t *x, smidgen_at_t *at, sum_t sum)
{
    uint16_t n = smidgen_read8(at);
    const uint8_t *gaps = at->bytes;
    const uint8_t *w = gaps + n;
    uint8_t pair = 0;
    uint8_t high = 0;
    for (; n; --n) {
        pair = high ? pair : smidgen_U8(w++);
        x += smidgen_U8(gaps++);
        sum = (sum_t)(sum + (sum_t)(smidgen_nibble(pair, high) * (int16_t)*x++));
        high ^= 1u;
    }
    at->bytes = w;
    return sum;
}

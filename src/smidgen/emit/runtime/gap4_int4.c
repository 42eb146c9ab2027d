/* sum + one sparse row times x: a count; so many bytes, how many columns to skip in the low nibble, a weight in the high one. */
static sum_t smidgen_gap4_int4(const uint8_t *x, smidgen_at_t *at, sum_t sum)
{
    uint16_t n = smidgen_read8(at);
    const uint8_t *w = at->bytes;
    for (; n; --n) {
        const uint8_t entry = smidgen_U8(w++);
        x += entry & 15u;
        sum = (sum_t)(sum + (sum_t)(((int8_t)(entry & 0xF0u) >> 4) * (int16_t)*x++));
    }
    at->bytes = w;
    return sum;
}

/* sum + one sparse row times x: a bit for each of the n columns, then the weights that are not 0. */
static sum_t smidgen_bitmap_int8(const uint8_t *x, uint16_t n, smidgen_at_t *at, sum_t sum)
{
    const uint8_t *bitmap = at->bytes;
    const uint8_t *w = bitmap + (n + 7u) / 8u;
    uint8_t bits = 0;
    uint16_t i;
    for (i = 0; i < n; ++i) {
        bits = (i & 7u) ? (uint8_t)(bits >> 1) : smidgen_U8(bitmap++);
        if (bits & 1u) {
            sum = (sum_t)(sum + (sum_t)((int8_t)smidgen_U8(w++) * (int16_t)x[i]));
        }
    }
    at->bytes = w;
    return sum;
}

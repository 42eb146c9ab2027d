/* sum + one sparse row times x: a bit for each of the n columns, and the weights that are not 0. */
static float smidgen_bitmap_float32(const float *x, uint16_t n, smidgen_at_t *at, float sum)
{
    uint8_t bits = 0;
    uint16_t i;
    for (i = 0; i < n; ++i) {
        bits = (i & 7u) ? (uint8_t)(bits >> 1) : smidgen_U8(at->bytes++);
        if (bits & 1u) {
            sum += smidgen_read_float(at) * x[i];
        }
    }
    return sum;
}

/* sum + one sparse row times x: n times how many columns to skip, and n weights. */
static float smidgen_gap8_float32(const float *x, uint16_t n, smidgen_at_t *at, float sum)
{
    for (; n; --n) {
        x += smidgen_U8(at->bytes++);
        sum += smidgen_read_float(at) * *x++;
    }
    return sum;
}

/* sum + one sparse row times x: a count; so many times how many columns to skip, and as many weights. */
static float smidgen_gap8_float32(const float *x, smidgen_at_t *at, float sum)
{
    uint16_t n = smidgen_read8(at);
    for (; n; --n) {
        x += smidgen_U8(at->bytes++);
        sum += smidgen_read_float(at) * *x++;
    }
    return sum;
}

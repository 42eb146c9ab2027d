/* A code as n numbers: hot at its place, all others 0; only zeros for a code that is not in 0..n-1. */
static out_t *smidgen_one_hot(out_t *y, uint8_t n, int32_t code, out_t hot)
{
    uint8_t i;
    for (i = 0; i < n; ++i) {
        *y++ = (out_t)(i == code ? hot : 0);
    }
    return y;
}

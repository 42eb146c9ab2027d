/* The squared distance from x to a point whose coordinates are zero + (v << shift), v an int8. */
static sum_t smidgen_squared_int8(const uint8_t *x, uint16_t n, smidgen_at_t *at, uint8_t zero, uint8_t shift)
{
    const uint8_t *v = at->bytes;
    sum_t sum = 0;
    for (; n; --n) {
        sum = (sum_t)(sum + smidgen_square(*x++, (uint8_t)(zero + (uint16_t)((uint16_t)smidgen_U8(v++) << shift))));
    }
    at->bytes = v;
    return sum;
}

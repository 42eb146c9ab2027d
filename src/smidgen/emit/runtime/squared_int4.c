/* The squared distance from x to a point whose coordinates are least + (u << shift), u a nibble, the low one first. */
static sum_t smidgen_squared_int4(const uint8_t *x, uint16_t n, smidgen_at_t *at, uint8_t least, uint8_t shift)
{
    const uint8_t *u = at->bytes;
    sum_t sum = 0;
    for (; n; n = (uint16_t)(n - 2)) {
        const uint8_t pair = smidgen_U8(u++);
        sum = (sum_t)(sum + smidgen_square(*x++, (uint8_t)(least + (uint16_t)((uint16_t)(pair & 15) << shift))));
        if (n == 1) {
            break;
        }
        sum = (sum_t)(sum + smidgen_square(*x++, (uint8_t)(least + (uint16_t)((uint16_t)(pair >> 4) << shift))));
    }
    at->bytes = u;
    return sum;
}

/* How many bits of x differ from those of a point; n bytes each, padded with 0. */
static uint16_t smidgen_hamming(const uint8_t *x, uint16_t n, smidgen_at_t *at)
{
    const uint8_t *point = at->bytes;
    uint16_t count = 0;
    for (; n; --n) {
        uint8_t other = (uint8_t)(*x++ ^ smidgen_U8(point++));
        for (; other; other = (uint8_t)(other & (other - 1u))) {
            ++count;
        }
    }
    at->bytes = point;
    return count;
}

/* Write bit number i of a code; the first bit of a byte clears the others. */
static void smidgen_put_bit(uint8_t *bits, uint16_t i, uint8_t on)
{
    const uint8_t rest = (uint8_t)((i & 7u) ? bits[i >> 3] : 0u);
    bits[i >> 3] = (uint8_t)(rest | (unsigned)on << (i & 7u));
}

/* A number of -8..7 in two's complement, from the low nibble of a byte or from its high one. */
static int8_t smidgen_nibble(uint8_t pair, uint8_t high)
{
    return (int8_t)((int8_t)(high ? pair & 0xF0u : (uint8_t)(pair << 4)) >> 4);
}

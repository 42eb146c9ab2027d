/* The next four bytes of a step's constants, the low one first. */
static uint32_t smidgen_read32(smidgen_at_t *at)
{
    const uint16_t low = smidgen_read16(at);
    return low | ((uint32_t)smidgen_read16(at) << 16);
}

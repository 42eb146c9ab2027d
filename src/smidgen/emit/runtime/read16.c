/* The next two bytes of a step's constants, the low one first. */
static uint16_t smidgen_read16(smidgen_at_t *at)
{
    const uint8_t low = smidgen_read8(at);
    return (uint16_t)(low | (uint16_t)((uint16_t)smidgen_read8(at) << 8));
}

/* The next byte of a step's constants. */
static uint8_t smidgen_read8(smidgen_at_t *at)
{
    return smidgen_U8(at->bytes++);
}

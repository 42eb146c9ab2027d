/* The next number of a step's constants. */
static float smidgen_read_float(smidgen_at_t *at)
{
    return smidgen_F32(at->floats++);
}

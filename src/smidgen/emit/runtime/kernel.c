/* The kernel values of the distances from x to all points. */
static void smidgen_kernel_STEP(const uint8_t *x, uint8_t *y, const uint8_t *points, const uint8_t *table)
{
    uint8_t n;
    smidgen_at_t at;
    at.bytes = points;
    for (n = STEP_POINTS; n; --n) {
        *y++ = smidgen_gaussian(STEP_SQUARED(x, STEP_COLUMNS, &at, STEP_LEAST, STEP_POINT_SHIFT), STEP_SHIFT, table, STEP_LAST);
    }
}

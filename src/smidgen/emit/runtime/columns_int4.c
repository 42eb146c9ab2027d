/* STEP_ROWS rows of int4 weights at once: a column after the other, then each row's bias and multiplier; the next rows. */
static const uint8_t *smidgen_columns_STEP(const uint8_t *x, uint8_t *y, const uint8_t *w)
{
    uint16_t sums[STEP_ROWS] = {0};
    smidgen_at_t at;
    uint8_t i, n;
    for (n = STEP_COLUMNS; n; --n, ++x) {
        if (!*x) {
            w += STEP_ROWS / 2;
            continue;
        }
        for (i = 0; i < STEP_ROWS; i = (uint8_t)(i + 2)) {
            const uint8_t pair = smidgen_U8(w++);
            sums[i] = (uint16_t)(sums[i] + (uint16_t)(((int16_t)(pair & 15) - 8) * (int16_t)*x));
            sums[i + 1] = (uint16_t)(sums[i + 1] + (uint16_t)(((int16_t)(pair >> 4) - 8) * (int16_t)*x));
        }
    }
    at.bytes = w;
    for (i = 0; i < STEP_ROWS; ++i) {
        const int16_t sum = (int16_t)(sums[i] + STEP_BIAS);
        y[i] = smidgen_rescale((int16_t)(sum >> STEP_PRE), STEP_MULTIPLIER, STEP_SHIFT, STEP_ZERO, STEP_HIGH);
    }
    return at.bytes;
}

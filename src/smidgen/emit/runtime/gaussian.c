/* The kernel value of a squared distance: a table that never rises, read between its entries on 8 more bits. */
static uint8_t smidgen_gaussian(uint32_t distance, uint8_t shift, const uint8_t *table, uint8_t last)
{
    const uint32_t index = distance >> shift;
    const uint8_t fraction = (uint8_t)(distance >> (shift - 8u));
    uint8_t left, fall;
    if (index >= last) {
        return 0;
    }
    table += (uint8_t)index;
    left = smidgen_U8(table);
    fall = (uint8_t)(left - smidgen_U8(table + 1));
    return (uint8_t)(left - ((uint16_t)((uint16_t)fall * fraction) >> 8));
}

/* The square of the difference of two bytes. */
static uint16_t smidgen_square(uint8_t a, uint8_t b)
{
    const uint16_t gap = (uint16_t)(a > b ? a - b : b - a);
    return (uint16_t)(gap * gap);
}

/* clip(zero + ((sum * multiplier) >> shift), 0, high): a byte from a sum. */
static uint8_t smidgen_rescale(int16_t sum, uint8_t multiplier, uint8_t shift, uint8_t zero, uint8_t high)
{
    const int32_t value = (((int32_t)sum * multiplier) >> shift) + zero;
    return (uint8_t)(value < 0 ? 0 : value > high ? high : value);
}

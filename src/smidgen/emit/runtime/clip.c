/* The nearest byte. */
static uint8_t smidgen_clip(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

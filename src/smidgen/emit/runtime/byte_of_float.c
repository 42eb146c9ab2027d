/* clip(floor(value), 0, 255), compared before it is converted. */
static uint8_t smidgen_byte_of_float(float value)
{
    if (!(value > 0.0f)) {
        return 0;
    }
    return value >= 255.0f ? 255 : (uint8_t)value;
}

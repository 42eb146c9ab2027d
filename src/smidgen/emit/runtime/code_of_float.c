/* A whole number of 0..254 as an integer, -1 for any other number. */
static int32_t smidgen_code_of_float(float value)
{
    uint8_t code;
    if (!(value >= 0.0f && value < 255.0f)) {
        return -1;
    }
    code = (uint8_t)value;
    return (float)code < value ? -1 : code;
}

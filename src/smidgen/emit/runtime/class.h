/* The name of a class, to be printed: Serial.println(smidgen_CLASS(i)). On AVR the names stand in flash. */
#if defined(__AVR__)
#define smidgen_CLASS(i) ((const __FlashStringHelper *)pgm_read_word(smidgen_CLASSES + (i)))
#else
#define smidgen_CLASS(i) (smidgen_CLASSES[i])
#endif

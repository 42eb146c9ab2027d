/* The names of the classes stand in a section of their own: a linker that drops what is not used drops them. */
#if defined(__AVR__)
#define smidgen_NAMES __attribute__((section(".progmem.names.SMIDGEN_NAME"), unused))
#elif defined(__GNUC__)
#define smidgen_NAMES __attribute__((unused))
#else
#define smidgen_NAMES
#endif

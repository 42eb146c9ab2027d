/* What C99 leaves open, and this file relies on: arithmetic shifts, and conversion modulo 2^n. */
typedef char smidgen_assumes[(-1 >> 1 == -1 && (int8_t)255 == -1 && (int16_t)65535 == -1) ? 1 : -1];

/* All constants stand in one section; on AVR that is flash, which is read by instructions of its own. */
/* On AVR some routines stand in an assembly file; -DSMIDGEN_PORTABLE takes those in C there too. */
#if defined(__AVR_HAVE_MUL__) && !defined(SMIDGEN_PORTABLE)
#define smidgen_ASSEMBLY 1
#else
#define smidgen_ASSEMBLY 0
#endif

#if defined(__AVR__)
#include <avr/pgmspace.h>
#define smidgen_FLASH(size) __attribute__((section(".progmem.smidgen.SMIDGEN_NAME"), used))
#define smidgen_U8(p) pgm_read_byte(p)
#define smidgen_U16(p) pgm_read_word(p)
#define smidgen_F32(p) pgm_read_float(p)
#else
#if defined(__GNUC__) && defined(__ELF__)
#define smidgen_FLASH(size) __attribute__((section(".rodata.smidgen.SMIDGEN_NAME"), used, aligned(size)))
#else
#define smidgen_FLASH(size)
#endif
#define smidgen_U8(p) (*(p))
#define smidgen_U16(p) (*(p))
#define smidgen_F32(p) (*(p))
#endif

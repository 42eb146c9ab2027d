/* What avr-libc's header of this name gives, as far as models use it, for a compiler that comes without avr-libc. */
#ifndef SMIDGEN_PGMSPACE_H
#define SMIDGEN_PGMSPACE_H
#include <stdint.h>
#define PROGMEM __attribute__((section(".progmem.data")))
#define SMIDGEN_ALWAYS static inline __attribute__((always_inline, unused))
SMIDGEN_ALWAYS uint8_t smidgen_lpm1(uint16_t at)
{
    uint8_t value;
    __asm__("lpm %0, Z" : "=r"(value) : "z"(at));
    return value;
}
SMIDGEN_ALWAYS uint16_t smidgen_lpm2(uint16_t at)
{
    uint16_t value;
    __asm__("lpm %A0, Z+\n\tlpm %B0, Z" : "=&r"(value), "+z"(at));
    return value;
}
SMIDGEN_ALWAYS uint32_t smidgen_lpm4(uint16_t at)
{
    return smidgen_lpm2(at) | (uint32_t)smidgen_lpm2((uint16_t)(at + 2)) << 16;
}
SMIDGEN_ALWAYS float smidgen_lpm_float(uint16_t at)
{
    union { uint32_t bits; float value; } number;
    number.bits = smidgen_lpm4(at);
    return number.value;
}
#define pgm_read_byte(p) smidgen_lpm1((uint16_t)(p))
#define pgm_read_word(p) smidgen_lpm2((uint16_t)(p))
#define pgm_read_dword(p) smidgen_lpm4((uint16_t)(p))
#define pgm_read_float(p) smidgen_lpm_float((uint16_t)(p))
#define pgm_read_ptr(p) ((void *)smidgen_lpm2((uint16_t)(p)))
#define pgm_read_byte_near pgm_read_byte
#define pgm_read_word_near pgm_read_word
#define pgm_read_dword_near pgm_read_dword
#define pgm_read_float_near pgm_read_float
#endif

/* uint16_t smidgen_dense_bits_16(const uint8_t *x, uint16_t n, smidgen_at_t *at, uint16_t sum)
 * x in X, bits in Z and r19, the columns left in r23:r22, the sum in r25:r24. */
 .macro smidgen_STEP_dense_bits_16
 ld r18, X+
 lsr r19
 brcc 8f
 add r24, r18
 adc r25, r1
 rjmp 9f
8: sub r24, r18
 sbc r25, r1
9:
 .endm

 .section .text.smidgen_dense_bits_16,"ax",@progbits
 .global smidgen_dense_bits_16
smidgen_dense_bits_16:
 movw r26, r20
 ld r30, X+
 ld r31, X
 movw r26, r24
 movw r24, r18
1: subi r22, 8
 sbci r23, 0
 brcc 2f
 rjmp 3f
2: lpm r19, Z+
 .rept 8
 smidgen_STEP_dense_bits_16
 .endr
 rjmp 1b
3: subi r22, 0xF8
 breq 5f
 lpm r19, Z+
4: smidgen_STEP_dense_bits_16
 dec r22
 brne 4b
5: movw r26, r20
 st X+, r30
 st X, r31
 ret

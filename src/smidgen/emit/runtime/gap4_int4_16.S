/* uint16_t smidgen_gap4_int4_16(const uint8_t *x, smidgen_at_t *at, uint16_t sum)
 * x in X, entries in Z, how many are left in r18, the sum in r25:r24. */
 .section .text.smidgen_gap4_int4_16,"ax",@progbits
 .global smidgen_gap4_int4_16
smidgen_gap4_int4_16:
 movw r26, r22
 ld r30, X+
 ld r31, X
 movw r26, r24
 movw r24, r20
 lpm r18, Z+
 tst r18
 breq 3f
1: lpm r20, Z+
 mov r21, r20
 andi r21, 15
 add r26, r21
 brcc 2f
 inc r27
2: ld r21, X+
 asr r20
 asr r20
 asr r20
 asr r20
 mulsu r20, r21
 add r24, r0
 adc r25, r1
 dec r18
 brne 1b
 clr r1
3: movw r26, r22
 st X+, r30
 st X, r31
 ret

/* uint16_t smidgen_hamming(const uint8_t *x, uint16_t n, smidgen_at_t *at)
 * x in X, a point in Z, the bytes left in r23:r22, the count in r25:r24. */
 .section .text.smidgen_hamming,"ax",@progbits
 .global smidgen_hamming
smidgen_hamming:
 movw r26, r20
 ld r30, X+
 ld r31, X
 movw r26, r24
 clr r24
 clr r25
1: ld r18, X+
 lpm r19, Z+
 eor r18, r19
 mov r19, r18
 lsr r19
 andi r19, 0x55
 sub r18, r19
 mov r19, r18
 lsr r19
 lsr r19
 andi r19, 0x33
 andi r18, 0x33
 add r18, r19
 mov r19, r18
 swap r19
 add r18, r19
 andi r18, 15
 add r24, r18
 adc r25, r1
 subi r22, 1
 sbci r23, 0
 brne 1b
 movw r26, r20
 st X+, r30
 st X, r31
 ret

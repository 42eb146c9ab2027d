/* sum_t smidgen_gap4_int4(const uint8_t *x, smidgen_at_t *at, sum_t sum)
 * x in X, entries in Z, how many are left in r18, the sum in r25:r24 or r20:r25:r24. */
 .section .text.smidgen_gap4_int4,"ax",@progbits
 .global smidgen_gap4_int4
smidgen_gap4_int4:
 .if SUM_IS_WIDE
 push r22
 push r23
 .endif
 movw r26, r22
 ld r30, X+
 ld r31, X
 movw r26, r24
 .if SUM_IS_WIDE
 movw r24, r18
 clr r22
 .else
 movw r24, r20
 .endif
 lpm r18, Z+
 tst r18
 breq 3f
1: lpm r21, Z+
 mov r19, r21
 andi r19, 15
 add r26, r19
 brcc 2f
 inc r27
2: ld r19, X+
 asr r21
 asr r21
 asr r21
 asr r21
 mulsu r21, r19
 add r24, r0
 adc r25, r1
 .if SUM_IS_WIDE
 adc r20, r22
 sbrc r1, 7
 dec r20
 .endif
 dec r18
 brne 1b
 clr r1
3:
 .if SUM_IS_WIDE
 pop r27
 pop r26
 .else
 movw r26, r22
 .endif
 st X+, r30
 st X, r31
 .if SUM_IS_WIDE
 movw r22, r24
 mov r24, r20
 clr r25
 sbrc r24, 7
 com r25
 .endif
 ret

/* sum_t smidgen_dense_int8(const uint8_t *x, uint16_t n, smidgen_at_t *at, sum_t sum)
 * x in X, weights in Z, columns left in r23:r22, the sum in r25:r24 or r18:r25:r24; eight columns, or four, in one turn of the loop. */
 .macro smidgen_STEP_dense_int8
 lpm r19, Z+
 .if SUM_IS_WIDE
 ld r21, X+
 mulsu r19, r21
 add r24, r0
 adc r25, r1
 adc r18, r20
 sbrc r1, 7
 dec r18
 .else
 ld r18, X+
 mulsu r19, r18
 add r24, r0
 adc r25, r1
 .endif
 .endm

 .section .text.smidgen_dense_int8,"ax",@progbits
 .global smidgen_dense_int8
smidgen_dense_int8:
 movw r26, r20
 .if SUM_IS_WIDE
 push r20
 push r21
 clr r20
 .endif
 ld r30, X+
 ld r31, X
 movw r26, r24
 .if SUM_IS_WIDE
 movw r24, r16
 .else
 movw r24, r18
 .endif
 subi r22, 8 >> SUM_IS_WIDE
 sbci r23, 0
 brcs 4f
3: .rept 8 >> SUM_IS_WIDE
 smidgen_STEP_dense_int8
 .endr
 subi r22, 8 >> SUM_IS_WIDE
 sbci r23, 0
 brcc 3b
4: subi r22, 256 - (8 >> SUM_IS_WIDE)
 breq 5f
1: smidgen_STEP_dense_int8
 dec r22
 brne 1b
5: clr r1
 .if SUM_IS_WIDE
 pop r27
 pop r26
 .else
 movw r26, r20
 .endif
 st X+, r30
 st X, r31
 .if SUM_IS_WIDE
 movw r22, r24
 mov r24, r18
 clr r25
 sbrc r24, 7
 com r25
 .endif
 ret

/* sum_t smidgen_dense_int4(const uint8_t *x, uint16_t n, smidgen_at_t *at, sum_t sum)
 * x in X, weights in Z, the columns left in r23:r22, the sum in r25:r24 or r18:r25:r24. */
 .macro smidgen_STEP_dense_int4
 subi r19, 8
 ld r21, X+
 mulsu r19, r21
 add r24, r0
 adc r25, r1
 .if SUM_IS_WIDE
 adc r18, r20
 sbrc r1, 7
 dec r18
 .endif
 subi r22, 1
 sbci r23, 0
 .endm

 .section .text.smidgen_dense_int4,"ax",@progbits
 .global smidgen_dense_int4
smidgen_dense_int4:
 push r16
 push r20
 push r21
 movw r26, r20
 ld r30, X+
 ld r31, X
 movw r26, r24
 .if SUM_IS_WIDE
 movw r24, r16
 clr r20
 .else
 movw r24, r18
 .endif
1: lpm r16, Z+
 mov r19, r16
 andi r19, 15
 smidgen_STEP_dense_int4
 breq 2f
 mov r19, r16
 swap r19
 andi r19, 15
 smidgen_STEP_dense_int4
 brne 1b
2: clr r1
 pop r27
 pop r26
 st X+, r30
 st X, r31
 pop r16
 .if SUM_IS_WIDE
 movw r22, r24
 mov r24, r18
 clr r25
 sbrc r24, 7
 com r25
 .endif
 ret

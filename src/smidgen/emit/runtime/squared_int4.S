/* sum_t smidgen_squared_int4(const uint8_t *x, uint16_t n, smidgen_at_t *at, uint8_t zero, uint8_t shift)
 * x in X, points in Z, the columns left in r23:r22, the sum in r25:r24 or r20:r25:r24; 2^shift in r16, zero in r18, 0 in
 * r17. */
 .macro smidgen_STEP_squared_int4
 mul r21, r16
 add r0, r18
 ld r21, X+
 sub r21, r0
 brcc 9f
 neg r21
9: mul r21, r21
 add r24, r0
 adc r25, r1
 .if SUM_IS_WIDE
 adc r20, r17
 .endif
 subi r22, 1
 sbci r23, 0
 .endm

 .section .text.smidgen_squared_int4,"ax",@progbits
 .global smidgen_squared_int4
smidgen_squared_int4:
 push r16
 push r17
 push r20
 push r21
 movw r26, r20
 ld r30, X+
 ld r31, X
 movw r26, r24
 mov r17, r16
 ldi r16, 1
 rjmp 2f
1: lsl r16
2: subi r17, 1
 brcc 1b
 clr r17
 clr r20
 clr r24
 clr r25
3: lpm r19, Z+
 mov r21, r19
 andi r21, 15
 smidgen_STEP_squared_int4
 breq 4f
 mov r21, r19
 swap r21
 andi r21, 15
 smidgen_STEP_squared_int4
 brne 3b
4:
 clr r1
 pop r27
 pop r26
 st X+, r30
 st X, r31
 pop r17
 pop r16
 .if SUM_IS_WIDE
 movw r22, r24
 mov r24, r20
 clr r25
 .endif
 ret

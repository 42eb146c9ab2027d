/* const uint8_t *smidgen_columns_STEP(const uint8_t *x, uint8_t *y, const uint8_t *w)
 * Sums of all STEP_ROWS rows stand in registers up to r21; a column of x = 0 is jumped over. A weight is stored as
 * u = value + 8, so that sum(value * x) = sum(u * x) - 8 * sum(x). Where STEP_SHORT is 1, the proof says that the sums of
 * the odd rows fit 12 bits: then they come as 16 times themselves out of x * byte - x * low nibble.
 * x in X and r24, sum(x) in Y, weights in Z, columns left in r25, r22 and r23 for the moment. */
 .macro smidgen_EACH_STEP do
 \do 2, 3, 4, 5, STEP_ROWS - 10
 \do 6, 7, 8, 9, STEP_ROWS - 8
 \do 10, 11, 12, 13, STEP_ROWS - 6
 \do 14, 15, 16, 17, STEP_ROWS - 4
 \do 18, 19, 20, 21, STEP_ROWS - 2
 .endm

 .macro smidgen_PUSH_STEP a, b, c, d, i
 .if \i >= 0 && \a < 18
 push r\a
 push r\b
 push r\c
 push r\d
 .endif
 .endm
 .macro smidgen_POP_STEP a, b, c, d, i
 .if \i >= 0 && \a < 18
 pop r\d
 pop r\c
 pop r\b
 pop r\a
 .endif
 .endm
 .macro smidgen_CLEAR_STEP a, b, c, d, i
 .if \i >= 0
 movw r\a, r28
 movw r\c, r28
 .endif
 .endm
 .macro smidgen_PAIR_STEP a, b, c, d, i
 .if \i >= 0
 lpm r22, Z+
 .if STEP_SHORT
 mul r22, r24
 add r\c, r0
 adc r\d, r1
 andi r22, 15
 mul r22, r24
 add r\a, r0
 adc r\b, r1
 .else
 mov r23, r22
 andi r23, 15
 mul r23, r24
 add r\a, r0
 adc r\b, r1
 swap r22
 andi r22, 15
 mul r22, r24
 add r\c, r0
 adc r\d, r1
 .endif
 .endif
 .endm
 .macro smidgen_FINISH_STEP a, b, c, d, i
 .if \i >= 0
 .if STEP_SHORT
 sub r\c, r\a
 sbc r\d, r\b
 sub r\c, r26
 sbc r\d, r27
 .else
 sub r\c, r28
 sbc r\d, r29
 .endif
 sub r\a, r28
 sbc r\b, r29
 .endif
 .endm
 .macro smidgen_STORE_STEP a, b, c, d, i
 .if \i >= 0
 movw r22, r\a
 rcall smidgen_rescale_STEP
 movw r22, r\c
 rcall smidgen_rescale_odd_STEP
 .endif
 .endm

 .section .text.smidgen_columns_STEP,"ax",@progbits
 .global smidgen_columns_STEP
smidgen_columns_STEP:
 smidgen_EACH_STEP smidgen_PUSH_STEP
 push r28
 push r29
 push r22
 push r23
 movw r26, r24
 movw r30, r20
 clr r28
 clr r29
 smidgen_EACH_STEP smidgen_CLEAR_STEP
 ldi r25, STEP_COLUMNS
1: ld r24, X+
 tst r24
 breq 4f
 add r28, r24
 brcc 2f
 inc r29
2: smidgen_EACH_STEP smidgen_PAIR_STEP
3: dec r25
 .if STEP_ROWS > 8
 breq 5f
 rjmp 1b
 .else
 brne 1b
 rjmp 5f
 .endif
4: adiw r30, STEP_ROWS / 2
 rjmp 3b
5:
 .rept 3
 lsl r28
 rol r29
 .endr
 .if STEP_SHORT
 movw r26, r28
 .rept 4
 lsl r26
 rol r27
 .endr
 .endif
 smidgen_EACH_STEP smidgen_FINISH_STEP
 pop r29
 pop r28
 clr r27
 smidgen_EACH_STEP smidgen_STORE_STEP
 movw r24, r30
 clr r1
 pop r29
 pop r28
 smidgen_POP_STEP 14, 15, 16, 17, STEP_ROWS - 4
 smidgen_POP_STEP 10, 11, 12, 13, STEP_ROWS - 6
 smidgen_POP_STEP 6, 7, 8, 9, STEP_ROWS - 8
 smidgen_POP_STEP 2, 3, 4, 5, STEP_ROWS - 10
 ret

/* the byte of the sum in r23:r22 to Y; r27 is 0 */
smidgen_rescale_odd_STEP:
 .if STEP_SHORT
 .rept 4
 asr r23
 ror r22
 .endr
 .endif
smidgen_rescale_STEP:
 .if STEP_HAS_BIAS
 lpm r24, Z+
 add r22, r24
 lpm r24, Z+
 adc r23, r24
 .endif
 .rept STEP_PRE
 asr r23
 ror r22
 .endr
 .if STEP_HAS_MULTIPLIERS
 lpm r24, Z+
 .else
 ldi r24, STEP_ONE_MULTIPLIER
 .endif
 mul r22, r24
 mov r22, r1
 mov r25, r23
 mul r23, r24
 add r22, r0
 adc r1, r27
 sbrc r25, 7
 sub r1, r24
 mov r23, r1
 .if STEP_SHIFT >= 16
 mov r22, r23
 lsl r23
 sbc r23, r23
 .endif
 .rept (STEP_SHIFT) & 7
 asr r23
 ror r22
 .endr
 .if STEP_ZERO
 subi r22, 0x80
 sbci r23, 0xFF
 .endif
 tst r23
 breq 6f
 ldi r22, STEP_HIGH
 sbrc r23, 7
 clr r22
6:
 .if STEP_HIGH < 255
 cpi r22, STEP_HIGH
 brlo 7f
 ldi r22, STEP_HIGH
7:
 .endif
 st Y+, r22
 ret

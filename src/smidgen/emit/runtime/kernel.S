/* void smidgen_kernel_STEP(const uint8_t *x, uint8_t *y, const uint8_t *points, const uint8_t *table)
 * x stands in registers from r2 up, its squared distance in r20:r19:r18. y in X, points in Z, their number in r24,
 * the table in Y, 0 in r25, r22 and r23 for the moment. */
 .macro smidgen_EACH_STEP do
 \do 2, 3, 0
 \do 4, 5, 2
 \do 6, 7, 4
 \do 8, 9, 6
 \do 10, 11, 8
 \do 12, 13, 10
 \do 14, 15, 12
 \do 16, 17, 14
 .endm

 .macro smidgen_ENTER_STEP a, b, i
 .if \i < STEP_COLUMNS
 push r\a
 ld r\a, Z+
 .endif
 .if \i + 1 < STEP_COLUMNS
 push r\b
 ld r\b, Z+
 .endif
 .endm
 .macro smidgen_LEAVE_STEP i, a, b
 .if \i + 1 < STEP_COLUMNS
 pop r\b
 .endif
 .if \i < STEP_COLUMNS
 pop r\a
 .endif
 .endm
 .macro smidgen_SQUARE_STEP a, point
 .if STEP_LEAST
 subi \point, 256 - STEP_LEAST
 .endif
 sub \point, r\a
 brcc 9f
 neg \point
9: mul \point, \point
 add r18, r0
 adc r19, r1
 .if STEP_IS_WIDE
 adc r20, r25
 .endif
 .endm
 .macro smidgen_SHIFT_STEP point
 .rept STEP_POINT_SHIFT & 3
 lsl \point
 .endr
 .endm
 .macro smidgen_COORDINATES_STEP a, b, i
 .if STEP_IS_INT4
 .if \i < STEP_COLUMNS
 lpm r22, Z+
 mov r23, r22
 .if STEP_POINT_SHIFT & 4
 swap r23
 andi r23, 0xF0
 .else
 andi r23, 15
 .endif
 smidgen_SHIFT_STEP r23
 smidgen_SQUARE_STEP \a, r23
 .endif
 .if \i + 1 < STEP_COLUMNS
 .if STEP_POINT_SHIFT & 4
 andi r22, 0xF0
 .else
 swap r22
 andi r22, 15
 .endif
 smidgen_SHIFT_STEP r22
 smidgen_SQUARE_STEP \b, r22
 .endif
 .else
 .if \i < STEP_COLUMNS
 lpm r22, Z+
 .rept STEP_POINT_SHIFT
 lsl r22
 .endr
 smidgen_SQUARE_STEP \a, r22
 .endif
 .if \i + 1 < STEP_COLUMNS
 lpm r22, Z+
 .rept STEP_POINT_SHIFT
 lsl r22
 .endr
 smidgen_SQUARE_STEP \b, r22
 .endif
 .endif
 .endm

 .section .text.smidgen_kernel_STEP,"ax",@progbits
 .global smidgen_kernel_STEP
smidgen_kernel_STEP:
 movw r30, r24
 smidgen_EACH_STEP smidgen_ENTER_STEP
 push r28
 push r29
 movw r26, r22
 movw r30, r20
 movw r28, r18
 ldi r24, STEP_POINTS
 clr r25
1: clr r18
 clr r19
 clr r20
 smidgen_EACH_STEP smidgen_COORDINATES_STEP
 .if STEP_SHIFT >= 16
 mov r18, r19
 mov r19, r20
 clr r20
 .endif
 .rept STEP_SHIFT & 7
 lsr r20
 ror r19
 ror r18
 .endr
 clr r21
 cpi r19, STEP_LAST
 cpc r20, r25
 brsh 2f
 movw r22, r30
 movw r30, r28
 add r30, r19
 adc r31, r25
 lpm r21, Z+
 lpm r0, Z
 movw r30, r22
 mov r1, r21
 sub r1, r0
 mul r1, r18
 sub r21, r1
2: st X+, r21
 dec r24
 breq 3f
 rjmp 1b
3: clr r1
 pop r29
 pop r28
 smidgen_LEAVE_STEP 14, 16, 17
 smidgen_LEAVE_STEP 12, 14, 15
 smidgen_LEAVE_STEP 10, 12, 13
 smidgen_LEAVE_STEP 8, 10, 11
 smidgen_LEAVE_STEP 6, 8, 9
 smidgen_LEAVE_STEP 4, 6, 7
 smidgen_LEAVE_STEP 2, 4, 5
 smidgen_LEAVE_STEP 0, 2, 3
 ret

; What avr-libc and libgcc bring for avr-gcc and nothing brings for zig: start-up, and the helpers that clang calls.
    .global __stack
    .set __stack, SMIDGEN_STACK

    .section .vectors,"ax",@progbits
    .global _start
_start:
    jmp  init

    .section .init,"ax",@progbits
init:
    clr  r1
    out  0x3f, r1
    ldi  r28, lo8(__stack)
    ldi  r29, hi8(__stack)
    out  0x3e, r29
    out  0x3d, r28
    ; .data, from flash
    ldi  r30, lo8(__data_load)
    ldi  r31, hi8(__data_load)
    ldi  r26, lo8(__data_start)
    ldi  r27, hi8(__data_start)
    ldi  r18, hi8(__data_end)
    rjmp 2f
1:  lpm  r0, Z+
    st   X+, r0
2:  cpi  r26, lo8(__data_end)
    cpc  r27, r18
    brne 1b
    ; .bss, zeros
    ldi  r26, lo8(__bss_start)
    ldi  r27, hi8(__bss_start)
    ldi  r18, hi8(__bss_end)
    rjmp 4f
3:  st   X+, r1
4:  cpi  r26, lo8(__bss_end)
    cpc  r27, r18
    brne 3b
    call main
5:  rjmp 5b

; r25:r22 = r25:r22 * r21:r18, modulo 2^32
    .section .text.__mulsi3,"ax",@progbits
    .global __mulsi3
__mulsi3:
    mul  r22, r18
    movw r26, r0
    clr  r30
    clr  r31
    mul  r23, r18
    rcall add_at_1
    mul  r22, r19
    rcall add_at_1
    mul  r24, r18
    add  r30, r0
    adc  r31, r1
    mul  r23, r19
    add  r30, r0
    adc  r31, r1
    mul  r22, r20
    add  r30, r0
    adc  r31, r1
    mul  r25, r18
    add  r31, r0
    mul  r24, r19
    add  r31, r0
    mul  r23, r20
    add  r31, r0
    mul  r22, r21
    add  r31, r0
    movw r22, r26
    movw r24, r30
    clr  r1
    ret
add_at_1:
    add  r27, r0
    adc  r30, r1
    clr  r0
    adc  r31, r0
    ret

; r25:r24 (destination, also the result), r23:r22 (source), r21:r20 (bytes)
    .section .text.memcpy,"ax",@progbits
    .global memcpy
memcpy:
    movw r26, r24
    movw r30, r22
    rjmp 2f
1:  ld   r0, Z+
    st   X+, r0
2:  subi r20, 1
    sbci r21, 0
    brcc 1b
    ret

; r25:r24 (destination, also the result), r22 (the byte), r21:r20 (bytes)
    .section .text.memset,"ax",@progbits
    .global memset
memset:
    movw r26, r24
    rjmp 2f
1:  st   X+, r22
2:  subi r20, 1
    sbci r21, 0
    brcc 1b
    ret

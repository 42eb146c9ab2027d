/* Calls functions of an AVR firmware under simavr, once a row, and counts the cycles of each call.
 *
 *     simavr_run CPU HZ ELF PLAN ROWS RESULTS
 *
 * PLAN   text: "main FLASH_BYTE_ADDRESS", "memory END", "stack TOP", "paint FROM", "limit CYCLES", then a line for
 *        each function: "call FLASH_BYTE_ADDRESS ROW ROW_BYTES ANSWER ANSWER_BYTES N_ROWS" (data addresses)
 * ROWS   the rows of all calls, one after the other, as the firmware holds them
 * RESULTS, for each call: N_ROWS answers, N_ROWS cycles (uint32), the deepest stack (uint32), rows whose input was
 *        written over (uint32)
 *
 * A function f(const void *row, void *answer) is entered as from a call in main, with both addresses as arguments.
 * The firmware runs from reset to main first. What goes wrong is one line on stderr and exit code 1.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/sim_elf.h>

#define PAINT 0xA5

static struct { unsigned long main, memory, stack, paint, limit; } plan;
struct call { unsigned long function, row, row_bytes, answer, answer_bytes, n_rows; };

static void fail(const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    vfprintf(stderr, what, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static FILE *opened(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file) fail("cannot open %s", path);
    return file;
}

static void silent(struct avr_t *avr, const int level, const char *format, va_list arguments) { }

/* Runs until the program counter reaches a place, as one row of one call may. */
static void run_to(avr_t *avr, unsigned long place, const char *doing, unsigned long row)
{
    avr_cycle_count_t end = avr->cycle + plan.limit;
    do {
        avr->pc = avr_run_one(avr);
        if (avr->state == cpu_Crashed)
            fail("%s %lu it crashed near flash address 0x%lx", doing, row, (unsigned long)avr->pc);
        if (avr->cycle > end) fail("%s %lu it did not end within %lu cycles", doing, row, plan.limit);
        if (avr->pc > avr->flashend) fail("%s %lu it ran out of the flash", doing, row);
    } while (avr->pc != place);
}

static avr_t *started(const char *cpu, unsigned long hz, const char *elf)
{
    elf_firmware_t firmware;
    memset(&firmware, 0, sizeof firmware);
    if (elf_read_firmware(elf, &firmware)) fail("cannot read %s", elf);
    avr_t *avr = avr_make_mcu_by_name(cpu);
    if (!avr) fail("this simavr knows no %s", cpu);
    if (plan.memory > avr->ramend) avr->ramend = (uint16_t)plan.memory;
    avr->flashend = 0x1ffff;    /* all that two-byte return addresses reach: the board's own limit is checked outside */
    avr_global_logger_set(silent);
    avr_init(avr);
    if (avr->address_size != 2) fail("%s has return addresses of %d bytes, and this runner knows 2", cpu, avr->address_size);
    avr->log = LOG_NONE;
    avr->frequency = hz;
    avr_load_firmware(avr, &firmware);
    run_to(avr, plan.main, "before row", 0);
    return avr;
}

static void enter(avr_t *avr, const struct call *call)
{
    unsigned long top = plan.stack - 2, back = plan.main >> 1;
    avr->data[top + 2] = (uint8_t)back;     /* the return address, its low byte pushed first */
    avr->data[top + 1] = (uint8_t)(back >> 8);
    avr->data[R_SPL] = (uint8_t)top;
    avr->data[R_SPH] = (uint8_t)(top >> 8);
    avr->data[24] = (uint8_t)call->row;
    avr->data[25] = (uint8_t)(call->row >> 8);
    avr->data[22] = (uint8_t)call->answer;
    avr->data[23] = (uint8_t)(call->answer >> 8);
    avr->data[1] = 0;
    avr->pc = (avr_flashaddr_t)call->function;
}

static uint32_t depth(avr_t *avr)
{
    unsigned long low = plan.paint;
    while (low <= plan.stack - 2 && avr->data[low] == PAINT) low++;
    return (uint32_t)(plan.stack - 2 + 1 - low);
}

static void make(avr_t *avr, const struct call *call, FILE *rows, FILE *results)
{
    uint8_t *row = malloc(call->row_bytes + 1);
    uint32_t *cycles = calloc(call->n_rows + 1, sizeof *cycles), overwritten = 0, deepest;
    if (!row || !cycles) fail("there is not enough memory");
    memset(avr->data + plan.paint, PAINT, plan.stack - 2 + 1 - plan.paint);
    for (unsigned long i = 0; i < call->n_rows; i++) {
        if (fread(row, 1, call->row_bytes, rows) != call->row_bytes) fail("the file of rows is too short");
        memcpy(avr->data + call->row, row, call->row_bytes);
        memset(avr->data + call->answer, PAINT, call->answer_bytes);
        avr_cycle_count_t before = avr->cycle;
        enter(avr, call);
        run_to(avr, plan.main, "in row", i);
        cycles[i] = (uint32_t)(avr->cycle - before);
        overwritten += memcmp(avr->data + call->row, row, call->row_bytes) != 0;
        fwrite(avr->data + call->answer, 1, call->answer_bytes, results);
    }
    deepest = depth(avr);
    fwrite(cycles, sizeof *cycles, call->n_rows, results);
    fwrite(&deepest, sizeof deepest, 1, results);
    fwrite(&overwritten, sizeof overwritten, 1, results);
    free(row);
    free(cycles);
}

int main(int count, char **arguments)
{
    if (!freopen("/dev/null", "w", stdout)) return 1;   /* simavr tells what it loads */
    if (count != 7) fail("usage: simavr_run CPU HZ ELF PLAN ROWS RESULTS");
    FILE *text = opened(arguments[4], "r"), *rows = opened(arguments[5], "rb"), *results = opened(arguments[6], "wb");
    struct call call;
    if (fscanf(text, " main %lu memory %lu stack %lu paint %lu limit %lu", &plan.main, &plan.memory, &plan.stack,
               &plan.paint, &plan.limit) != 5) fail("the plan makes no sense");
    avr_t *avr = started(arguments[1], strtoul(arguments[2], 0, 10), arguments[3]);
    while (fscanf(text, " call %lu %lu %lu %lu %lu %lu", &call.function, &call.row, &call.row_bytes, &call.answer,
                  &call.answer_bytes, &call.n_rows) == 6)
        make(avr, &call, rows, results);
    return fclose(results) ? 1 : 0;
}

/* The next class's largest entry, or the floor where that is larger. */
static value_t smidgen_next(smidgen_run_t *run)
{
    count_t n = smidgen_read_count(&run->at);
    value_t best = smidgen_FLOOR;
    for (; n; --n) {
        const value_t entry = smidgen_entry(run);
        best = entry > best ? entry : best;
    }
    return best;
}

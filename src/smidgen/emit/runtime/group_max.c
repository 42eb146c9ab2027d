/* The next class's largest entry. */
static value_t smidgen_next(smidgen_run_t *run)
{
    count_t n = smidgen_read_count(&run->at);
    value_t best = smidgen_entry(run);
    for (--n; n; --n) {
        const value_t entry = smidgen_entry(run);
        best = entry > best ? entry : best;
    }
    return best;
}

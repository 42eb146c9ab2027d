class_t smidgen_predict(const smidgen_input_t *x)
{
    class_t winner = 0;
    index_t i;
    value_t best;
    smidgen_run_t run;
    smidgen_begin(&run, x);
    best = smidgen_next(&run);
    for (i = 1; i < smidgen_N_SCORES; ++i) {
        const value_t score = smidgen_next(&run);
        if (score < best) {
            best = score;
            winner = (class_t)i;
        }
    }
    return winner;
}

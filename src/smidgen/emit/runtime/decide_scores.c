void smidgen_scores(const smidgen_input_t *x, smidgen_score_t *scores)
{
    index_t i;
    smidgen_run_t run;
    smidgen_begin(&run, x);
    for (i = 0; i < smidgen_N_SCORES; ++i) {
        scores[i] = (smidgen_score_t)smidgen_next(&run);
    }
}

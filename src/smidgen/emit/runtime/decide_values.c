void smidgen_predict(const smidgen_input_t *x, smidgen_score_t *y)
{
    smidgen_scores(x, y);
}

void smidgen_predict_values(const smidgen_input_t *x, float *y)
{
    index_t i;
    smidgen_run_t run;
    smidgen_begin(&run, x);
    for (i = 0; i < smidgen_N_SCORES; ++i) {
        y[i] = (float)smidgen_next(&run) * smidgen_UNIT(i);
    }
}

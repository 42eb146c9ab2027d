void smidgen_predict(const smidgen_input_t *x, uint8_t *labels)
{
    index_t i;
    smidgen_run_t run;
    smidgen_begin(&run, x);
    for (i = 0; i < smidgen_N_SCORES; ++i) {
        labels[i] = smidgen_next(&run) > 0;
    }
}

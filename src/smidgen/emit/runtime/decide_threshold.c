uint8_t smidgen_predict(const smidgen_input_t *x)
{
    smidgen_run_t run;
    smidgen_begin(&run, x);
    return smidgen_next(&run) > 0;
}

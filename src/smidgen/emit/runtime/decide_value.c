smidgen_score_t smidgen_predict(const smidgen_input_t *x)
{
    smidgen_run_t run;
    smidgen_begin(&run, x);
    return (smidgen_score_t)smidgen_next(&run);
}

float smidgen_predict_value(const smidgen_input_t *x)
{
    return (float)smidgen_predict(x) * smidgen_UNIT(0);
}

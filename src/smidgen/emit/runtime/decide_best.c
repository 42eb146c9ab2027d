void smidgen_predict(const smidgen_input_t *x, uint8_t *labels)
{
    value_t best[smidgen_K] = {0}; /* the best so far, falling, and whose they are */
    index_t label[smidgen_K] = {0};
    index_t n_best = 0;
    index_t i;
    smidgen_run_t run;
    smidgen_begin(&run, x);
    for (i = 0; i < smidgen_N_SCORES; ++i) {
        const value_t score = smidgen_next(&run);
        index_t place = n_best;
        labels[i] = 0;
        while (place && score > best[place - 1]) {
            --place;
        }
        if (place < smidgen_K) {
            index_t last;
            if (n_best < smidgen_K) {
                ++n_best;
            } else {
                labels[label[smidgen_K - 1]] = 0;
            }
            for (last = (index_t)(n_best - 1); last > place; --last) {
                best[last] = best[last - 1];
                label[last] = label[last - 1];
            }
            best[place] = score;
            label[place] = i;
            labels[i] = 1;
        }
    }
}

"""Files and named sets → X, y. No arithmetic but casts and the median; imports nothing of smidgen but its errors.

    read_table    one file (delimited text, Parquet, NPZ, LIBSVM) → `Table`
    load_dataset  a set by name, bundled with scikit-learn or put into `$SMIDGEN_DATA` → `Split`
    hold_out      the one rule for rows without a split: a quarter for testing, stratified, `random_state=0`
    fill_missing  NaN becomes the training median

scikit-learn, SciPy and pyarrow are imported only when a file needs them.
"""

from smidgen.data.named import list_datasets, load_dataset
from smidgen.data.read import read_table
from smidgen.data.split import Split, fill_missing, hold_out, hold_out_rows
from smidgen.data.table import Table

__all__ = ["Split", "Table", "fill_missing", "hold_out", "hold_out_rows", "list_datasets", "load_dataset", "read_table"]

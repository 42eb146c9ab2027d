"""Delimited text: what is found out, what stays as it is, what is refused and in which words."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smidgen.data import delimited, read_table
from smidgen.errors import DataError, UsageError

GESTURES = "ax,ay,gesture\n0.5,-1,wave\n1,2.25,rest\n"
X = [[0.5, -1.0], [1.0, 2.25]]


def test_a_plain_csv(write):
    path = write(GESTURES)
    table = read_table(str(path), "gesture")
    assert table.X.dtype == np.float32
    assert table.X.flags.c_contiguous
    assert table.X.tolist() == X
    assert table.y.tolist() == ["wave", "rest"]
    assert (table.feature_names, table.target_name, table.path) == (("ax", "ay"), "gesture", path)


# a decimal comma and a comma between cells go together only in quotes, and only where both are given
SIGNS = [(",", "."), (";", "."), ("\t", "."), ("|", "."), (";", ","), ("\t", ","), ("|", ",")]


@pytest.mark.parametrize(("delimiter", "decimal"), SIGNS)
def test_delimiter_and_decimal_sign_are_found(write, delimiter, decimal):
    path = write(GESTURES.replace(",", delimiter).replace(".", decimal))
    table = read_table(path, "gesture")
    assert table.X.tolist() == X
    assert table.y.tolist() == ["wave", "rest"]


def test_a_decimal_comma_in_quotes_is_never_guessed(write, refusal):
    path = write('a,b\n"1,234",2\n')  # 1.234 or 1234?
    assert (
        refusal(path)
        == "FILE, line 2, column 'a': '1,234' is text in a column of numbers (the decimal sign is '.' here)"
    )


def test_a_decimal_comma_far_below_the_sample_is_found(write):
    path = write("a;b\n" + "1;2\n" * 500 + "1,5;2\n")
    assert read_table(path).X[-1].tolist() == [1.5, 2.0]


def test_both_decimal_signs_in_one_file_are_refused(write, refusal):
    path = write("a;b\n1.5;2\n1.5;2,5\n")
    assert (
        refusal(path) == "FILE, line 3, column 'b': '2,5' is text in a column of numbers (the decimal sign is '.' here)"
    )


def test_delimiter_and_decimal_sign_as_given(write):
    path = write("a b c\n1,5 2 x\n")
    table = read_table(path, "c", delimiter=" ", decimal=",")
    assert table.X.tolist() == [[1.5, 2.0]]


@pytest.mark.parametrize(
    "options", [{"delimiter": ",,"}, {"delimiter": "§"}, {"decimal": "'"}, {"delimiter": ",", "decimal": ","}]
)
def test_impossible_options_are_usage_errors(write, options):
    with pytest.raises(UsageError):
        read_table(write(GESTURES), "gesture", **options)


def test_a_given_decimal_comma_is_not_taken_for_the_delimiter(write):
    assert read_table(write("1,5\n2,5\n"), decimal=",").X.tolist() == [[1.5], [2.5]]
    assert read_table(write("1|2,5\n2|3,5\n"), 0, decimal=",").X.tolist() == [[2.5], [3.5]]


def test_missing_takes_two_words(write):
    with pytest.raises(UsageError, match="'error' or 'keep'"):
        read_table(write(GESTURES), missing="drop")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_and_byte_order_mark(write, end, last):
    text = GESTURES if last else GESTURES.rstrip("\n")
    path = write("\ufeff" + text.replace("\n", end))
    table = read_table(path, "gesture")
    assert table.X.tolist() == X
    assert table.y.tolist() == ["wave", "rest"]


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.gz", "rows.csv"])
def test_gzip(write, name):
    assert read_table(write(gzip.compress(GESTURES.encode()), name), "gesture").X.tolist() == X


@pytest.mark.parametrize("name", ["rows.tsv", "rows.txt", "rows.data", "rows"])
def test_other_names_are_read_by_content(write, name):
    assert read_table(write(GESTURES.replace(",", "\t"), name), "gesture").X.tolist() == X


# --- the target


def test_the_target_keeps_its_words(write):
    words = ["001", "NA", "true", "1.0", "null", "?", "nan", "1e3", "Größe", "a b", "0"]
    path = write("a,t\n" + "".join(f"1,{word}\n" for word in words))
    table = read_table(path, "t")
    assert table.y.tolist() == words
    assert table.y.dtype.kind == "U"


def test_quotes_and_blanks_around_words_do_not_count(write):
    path = write('a, t \n1,"x, y"\n 2 ,  z\n3,"say ""hi"""\n')
    table = read_table(path, "t")
    assert table.y.tolist() == ["x, y", "z", 'say "hi"']
    assert table.X.tolist() == [[1.0], [2.0], [3.0]]


@pytest.mark.parametrize(
    ("target", "left"), [(0, [[2.0, 3.0]]), (1, [[1.0, 3.0]]), (-1, [[1.0, 2.0]]), ("2", [[1.0, 2.0]])]
)
def test_a_target_by_index_needs_no_header(write, target, left):
    table = read_table(write("1,2,3\n"), target)
    assert table.X.tolist() == left
    assert table.y.tolist() == [str(({1, 2, 3} - {int(x) for x in left[0]}).pop())]
    assert (table.feature_names, table.target_name) == ((), None)


def test_no_target(write):
    table = read_table(write("a,b\n1,2\n"))
    assert table.y is None
    assert table.target_name is None
    assert repr(table) == "Table(rows.csv: 1 rows, 2 features, no target)"


def test_a_numeric_target(write):
    table = read_table(write("a;t\n1;2,5\n1;-3\n"), "t", numeric_target=True)
    assert table.y.dtype == np.float64
    assert table.y.tolist() == [2.5, -3.0]


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("much", "'much' is text in a column of numbers"),
        ("NA", "the target is missing; fill it in or remove the row"),
        ("", "the target is missing; fill it in or remove the row"),
        ("inf", "the target 'inf' is infinite or too large, correct it or remove the row"),
        ("1e999", "the target '1e999' is infinite or too large, correct it or remove the row"),
    ],
)
def test_a_numeric_target_that_is_none(write, refusal, cell, says):
    path = write(f"a,t\n1,2\n1,{cell}\n1,3\n")
    assert refusal(path, "t", numeric_target=True) == f"FILE, line 3, column 't': {says}"


@pytest.mark.parametrize("cell", ["", "  ", '""', '" "'])
@pytest.mark.parametrize("missing", ["error", "keep"])
def test_a_missing_target_is_always_refused(write, refusal, cell, missing):
    path = write(f"a,t\n1,x\n1,{cell}\n")
    says = "FILE, line 3, column 't': the target is missing; fill it in or remove the row"
    assert refusal(path, "t", missing=missing) == says


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("gestre", "no column is called 'gestre', did you mean 'gesture' (the columns are 'ax', 'ay', 'gesture')"),
        ("Gesture", "no column is called 'Gesture', did you mean 'gesture' (the columns are 'ax', 'ay', 'gesture')"),
        ("zzz", "no column is called 'zzz' (the columns are 'ax', 'ay', 'gesture')"),
        (3, "there is no column of index 3, they run from 0 to 2"),
        (-4, "there is no column of index -4, they run from 0 to 2"),
    ],
)
def test_a_wrong_target(write, refusal, target, says):
    assert refusal(write(GESTURES), target) == f"FILE, line 1: {says}"


def test_of_many_columns_a_few_are_listed(write, refusal):
    path = write(",".join(f"c{j}" for j in range(30)) + "\n" + ",".join("1" * 30) + "\n")
    assert refusal(path, "label").endswith(
        "(the columns are 'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', … 30 in all)"
    )


def test_a_target_by_name_where_no_row_has_names(write, refusal):
    says = refusal(write("1,2\n3,4\n"), "label")
    assert says.startswith("FILE: the columns have no names, so the target must be an index from 0 to 1, not 'label'")


def test_a_target_with_nothing_beside_it(write, refusal):
    says = refusal(write("label\nx\ny\n"), "label")
    assert says.startswith("FILE, line 1: column 'label' is the target and the only one")


# --- the header


@pytest.mark.parametrize(
    ("text", "target", "names"),
    [
        ("a,b\n1,2\n", None, ("a", "b")),
        ("1,2\n3,4\n", None, ()),
        ("1,2,walk\n3,4,run\n", 2, ()),  # text above text is no evidence, numbers stand in the first row
        ("a,7,t\n1,2,x\n", "t", ("a", "7")),  # names may be numbers where the target's name is found
        ("a,7,t\n1,2,x\n", 2, ("a", "7")),  # text above numbers
        ("0,1,t\n1,2,5\n", 2, ("0", "1")),
        ("NA,2\n3,4\n", None, ()),  # a missing value is no name
        ("1,2\n", None, ()),
        ("3,3,t\n1,2,5\n", 0, None),  # names differ, so the first row is data and its text a fault
        ("0.5,oops,x\n1,2,y\n", 2, None),  # 0.5 is no name either
    ],
)
def test_header_or_none_is_found(write, refusal, text, target, names):
    if names is None:
        assert refusal(write(text), target).startswith("FILE, line 1, column ")
        return
    table = read_table(write(text), target, missing="keep")
    assert table.feature_names == names
    assert len(table.X) == text.count("\n") - bool(names)


def test_the_caller_knows_the_header_better(write):
    path = write("1,2,x\n3,4,y\n")
    assert read_table(path, 2, header=True).feature_names == ("1", "2")
    assert read_table(path, "x", header=True).X.tolist() == [[3.0, 4.0]]
    assert read_table(write("5,6\n7,8\n"), header=False).X.shape == (2, 2)


def test_header_false_reads_names_as_data(write, refusal):
    assert refusal(write("a,b\n1,2\n"), header=False) == "FILE, line 1, column 1: 'a' is text in a column of numbers"


def test_a_header_with_line_breaks(write, refusal):
    path = write('"acc\n(m/s2)",t\n1,x\nbad,y\n')
    assert refusal(path, "t") == "FILE, line 4, column 'acc (m/s2)': 'bad' is text in a column of numbers"
    assert read_table(write('"acc\n(m/s2)",t\n1,x\n'), "t").feature_names == ("acc (m/s2)",)


def test_blank_lines_count_as_lines_but_not_as_rows(write, refusal):
    assert read_table(write("\n\na,t\n\n1,x\n\n\n2,y\n\n"), "t").X.tolist() == [[1.0], [2.0]]
    assert refusal(write("\n\na,t\n\n1,x\n\n\nbad,y\n\n"), "t").startswith("FILE, line 8, column 'a'")


# --- what is refused


FAULTS = [
    ("a,b\n1,2\n1,oops\n", "FILE, line 3, column 'b': 'oops' is text in a column of numbers"),
    ("a,b\n1,2\n1,0x1A\n", "FILE, line 3, column 'b': '0x1A' is text in a column of numbers"),
    ("a,b\n1,2\n1,1_000\n", "FILE, line 3, column 'b': '1_000' is text in a column of numbers"),
    ("a,b\n1,2\n1,٣\n", "FILE, line 3, column 'b': '٣' is text in a column of numbers"),
    ("a,b\n1,2\n1,true\n", "FILE, line 3, column 'b': 'true' is text in a column of numbers"),
    ("a,b\n1,2\n1,inf\n", "FILE, line 3, column 'b': 'inf' is infinite or too large for float32"),
    ("a,b\n1,2\n1,-Infinity\n", "FILE, line 3, column 'b': '-Infinity' is infinite or too large for float32"),
    ("a,b\n1,2\n1,1e39\n", "FILE, line 3, column 'b': '1e39' is infinite or too large for float32"),
    ("a,b\n1,2\n-1e999,1\n", "FILE, line 3, column 'a': '-1e999' is infinite or too large for float32"),
    ("a,b\n1,2\n3\n", "FILE, line 3, column 'b': nothing stands here, the line has 1 field where the first has 2"),
    ("a,b\n1,2\n3,4,5\n", "FILE, line 3, column 3: the line has 3 fields where the first has 2"),
    ("1,2\n1,2\n3\n", "FILE, line 3, column 2: nothing stands here, the line has 1 field where the first has 2"),
    ("a,b\n", "FILE has a header (line 1) but no rows under it"),
    ("a,b,a\n1,2,3\n", "FILE, line 1: columns 1 and 3 are both called 'a', rename one of them"),
]


@pytest.mark.parametrize(("text", "says"), FAULTS)
def test_a_fault_is_named_by_file_column_and_line(write, refusal, text, says):
    assert refusal(write(text)) == says


def test_the_first_fault_of_the_file_is_the_one_named(write, refusal):
    path = write("a,b\n1,2\n3,x\ny,4\n5\n")
    assert refusal(path).startswith("FILE, line 3, column 'b': 'x'")


def test_a_column_without_a_name(write, refusal):
    says = refusal(write(",a,t\n0,1,x\n1,2,y\n"), "t")
    assert says.startswith("FILE, line 1: column 1 has no name; give it one, or remove it if it only numbers the rows")


@pytest.mark.parametrize("cell", [*sorted(delimited.MISSING_WORDS), " NA ", "  ", '""', '"?"'])
def test_missing_values_are_refused_or_kept(write, refusal, cell):
    path = write(f"a,b\n1,2\n{cell},3\n4,5\n")
    assert refusal(path) == (
        "FILE, line 3, column 'a': the value is missing; fill it in, remove the row, or read with missing='keep'"
    )
    kept = read_table(path, missing="keep").X
    np.testing.assert_array_equal(kept, np.array([[1, 2], [np.nan, 3], [4, 5]], dtype=np.float32))


@pytest.mark.parametrize("cell", ["inf", "1e39", "x"])
def test_keeping_missing_values_keeps_no_other_fault(write, refusal, cell):
    assert refusal(write(f"a,b\n,2\n1,{cell}\n"), missing="keep").startswith("FILE, line 3, column 'b'")


def test_the_largest_float32_passes_and_the_next_does_not(write, refusal):
    assert read_table(write("a,b\n1,3.4028235e38\n")).X[0, 1] == np.finfo(np.float32).max
    assert "too large" in refusal(write(f"a,b\n1,{2.0**128 - 2.0**103!r}\n"))


def test_latin_1_is_refused_where_it_stands(write, refusal):
    path = write("größe,art\n1,é\n2,".encode() + "è\n".encode("latin-1"))
    assert refusal(path, "art") == (
        "FILE, line 3, column 2: 'è' is not UTF-8 (Latin-1 perhaps), save the file again as UTF-8"
    )


@pytest.mark.parametrize("text", ['a,t\n1,"x\n2,y\n3,z\n', 'a,t\n1,"x\n2,y\n3,"z\n'])
def test_an_open_quote_swallows_no_rows(write, refusal, text):
    says = refusal(write(text), "t")
    assert says.startswith("FILE, line 2, column 't': ")
    assert "quote" in says


def test_an_open_quote_in_a_large_file(write, refusal):
    says = refusal(write('a,t\n1,"x\n' + "2,y\n" * 50_000), "t")
    assert says.startswith("FILE, line 2: ")
    assert "never closed" in says


def test_long_cells_are_cut_in_the_sentence(write, refusal):
    assert len(refusal(write("a,b\n1," + "x" * 1000 + "\n"))) < 120


# --- the two readers


@pytest.mark.parametrize(
    "text", [GESTURES, GESTURES.replace(",", ";").replace(".", ","), 'a,ß\n1,"x"\n"","N ""A"""\n', "größe,t\n1,é\n,ü\n"]
)
def test_a_file_without_faults_never_meets_the_careful_reader(write, monkeypatch, text):
    monkeypatch.delattr(delimited, "_read_carefully")
    assert len(read_table(write(text), -1, missing="keep").X) == 2


def test_wide_rows(write):
    wide = np.arange(20_000.0).reshape(4, 5000)
    text = "\n".join(",".join(str(x) for x in row) for row in wide)
    np.testing.assert_array_equal(read_table(write(text)).X, wide)


CELLS = st.sampled_from(
    [
        "1",
        "-2.5",
        "+3",
        "1,5",
        "1_0",
        "٣",
        "1e3",
        " 4 ",
        ".5",
        "6.",
        "",
        "NA",
        "nan",
        "inf",
        "1e39",
        "x",
        "0x1",
        '"7"',
        '" 8"',
        "1.5.2",
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, st.sampled_from(["u", " v", "", '"w; x"', "NA"])), min_size=1, max_size=6),
    point=st.sampled_from([".", ","]),
)
def test_the_quick_reader_means_what_the_careful_one_means(tmp_path_factory, rows, point):
    path = tmp_path_factory.getbasetemp() / "two_readers.csv"
    data = ("a;b;t\n" + "".join(";".join(row) + "\n" for row in rows)).encode()
    layout = delimited._Layout(path, ";", point, ("a", "b", "t"), 3, 2, 1 << 20)
    try:
        careful_X, careful_y = delimited._read_carefully(data, layout, "keep", False)
    except DataError:
        path.write_bytes(data)
        with pytest.raises(DataError):
            read_table(path, "t", delimiter=";", decimal=point, header=True, missing="keep")
        return
    quick = delimited._read_quickly(data, layout, False)
    if quick is None:  # a blank around NA: pyarrow refuses, the careful reader reads
        return
    np.testing.assert_array_equal(quick[0], careful_X)
    assert quick[1].tolist() == careful_y.tolist()


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6)
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    names = draw(st.lists(WORDS, min_size=width + 1, max_size=width + 1, unique=True))
    row = st.tuples(*[NUMBERS] * width, WORDS)
    return names, draw(st.lists(row, min_size=1, max_size=8))


@settings(max_examples=150, deadline=None)
@given(
    table=tables(),
    signs=st.sampled_from(SIGNS),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_written_table_is_read_back(tmp_path_factory, table, signs, quoting, end):
    (names, rows), (delimiter, decimal) = table, signs
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(names)
    writer.writerows([*(repr(x).replace(".", decimal) for x in row[:-1]), row[-1]] for row in rows)
    path = tmp_path_factory.getbasetemp() / "round_trip.csv"
    path.write_bytes(text.getvalue().encode())
    back = read_table(path, names[-1], delimiter=delimiter, decimal=decimal, header=True)
    np.testing.assert_array_equal(back.X, np.array([row[:-1] for row in rows], dtype=np.float32))
    assert back.y.tolist() == [row[-1] for row in rows]
    assert back.feature_names == tuple(names[:-1])


def test_a_header_longer_than_a_cell_may_be(write):
    """The standard library's csv reads no cell beyond 131,072 characters, which a wrong delimiter makes of a line."""
    names = [f"a_sensor_{j:07d}" for j in range(10_000)]
    path = write(",".join([*names, "y"]) + "\n" + "1," * 10_000 + "no\n" + "2," * 10_000 + "yes\n")
    table = read_table(path, "y")
    assert table.feature_names == tuple(names)
    assert table.y.tolist() == ["no", "yes"]
    with pytest.raises(DataError, match="larger than field limit"):
        read_table(write("a,y\n1," + "x" * 140_000 + "\n"), "y")


@pytest.mark.parametrize("target", [2, np.int64(2), np.int8(-1)])
def test_a_target_by_any_integer(write, target):
    assert read_table(write(GESTURES), target).y.tolist() == ["wave", "rest"]


@pytest.mark.parametrize("target", [1.0, ["gesture"], b"gesture"])
def test_a_target_that_is_no_name_and_no_index(write, target):
    with pytest.raises(UsageError, match="the target must be a column's name or its index"):
        read_table(write(GESTURES), target)


def test_a_delimiter_that_is_no_text(write):
    with pytest.raises(UsageError, match="the delimiter must be one ASCII character, not 5"):
        read_table(write(GESTURES), "gesture", delimiter=5)

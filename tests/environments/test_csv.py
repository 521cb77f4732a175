"""Means from a CSV file: every wrong cell is named by its line and column, in one line, before any work starts."""

from pathlib import Path

import pytest

import driftbandit as db


def written(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "means.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        "0.1,0.9\n0.5,0.5\n",
        "first,second\n0.1,0.9\n0.5,0.5",
        "\ufefffirst,second\r\n0.1,0.9\r\n\r\n0.5,0.5\r\n",
        ' 0.1 ,"0.9"\n5e-1,.5\n\n',
        '"a;b",c\n0.1,0.9\n0.5,0.5\n',
        ",\n0.1,0.9\n0.5,0.5\n",
    ],
    ids=["plain", "header", "byte order mark", "spaces", "a name with a semicolon", "commas alone"],
)
def test_a_column_an_arm_a_row_a_step(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, content)
    for given in (path, str(path)):
        assert db.FromMeans(means=given) == db.FromMeans(means=[[0.1, 0.9], [0.5, 0.5]])
    assert db.Environment.parse(f"from-means:means={path}").n_arms == 2


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("0.1,nan\n", "means must be in [0, 1], got 'nan' in line 1, column 2"),
        ("a,b\n0.1,0.2\n0.3,inf\n", "means must be in [0, 1], got 'inf' in line 3, column 2"),
        ("0.1,-inf\n", "means must be in [0, 1], got '-inf' in line 1, column 2"),
        ("0.1,1.01\n", "means must be in [0, 1], got '1.01' in line 1, column 2"),
        ("-0.001,1\n", "means must be in [0, 1], got '-0.001' in line 1, column 1"),
        ("0.1,x\n", "means must be in [0, 1], got 'x' in line 1, column 2"),
        ("0.1,0.2\n0.1,\n", "means must be in [0, 1], got '' in line 2, column 2"),
        ("0.1,0.2\n\n0.3,1e400\n", "means must be in [0, 1], got '1e400' in line 3, column 2"),
        ("0.1,0.2\n0.3\n", "means must have 2 columns in every row, got 1 in line 2"),
        ("0.1,0.2\n0.3,0.4,0.5\n", "means must have 2 columns in every row, got 3 in line 2"),
        ("", "means must have at least one row"),
        ("\n\n", "means must have at least one row"),
        ("a,b\n", "means must have at least one row"),
        ("0.5\n0.6\n", "means must be a table with a row a step, at least two columns (arms)"),
        (b"\xff\xfe\x00\x01\x80", "means must be a readable CSV file"),
        ("grün,blau\n0.1,0.2\n".encode("latin-1"), "means must be a readable CSV file, got '/"),
        ("0,1\n0.1,0.9\n", "means must not begin with the line 0,1, which may be names or means, got it in '/"),
        ("0,1\n1,0\n", "means must not begin with the line 0,1, which may be names or means, got it in '/"),
        (",a,b\n0,0.1,0.9\n1,0.2,0.8\n", "means must have a name for every column or for none, got '' for the first"),
        (",0,1\n0,0.1,0.9\n1,0.2,0.8\n", "means must have a name for every column or for none, got '' for the first"),
        (b"0.1,0.2\n\x00\x80\x81", "means must be a readable CSV file"),
    ],
)
def test_every_wrong_file_is_refused_in_one_line(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    with pytest.raises(db.InvalidValue) as error:
        db.FromMeans(means=written(tmp_path, content))
    assert str(error.value).startswith(complaint)
    assert "\n" not in str(error.value)


def test_a_missing_file_and_a_folder_are_refused_in_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.csv", tmp_path, "", "\0"):
        with pytest.raises(db.InvalidValue, match=r"^means must be a (readable CSV file|CSV file|path), got ") as error:
            db.FromMeans(means=path)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("0.1;0.9\n0.5;0.5\n", "columns are separated by commas, and numbers have a point"),
        ("a;b\n0,1;0,9\n", "columns are separated by commas, and numbers have a point"),
        ("0,1;0,9\n0,5;0,5\n", "columns are separated by commas, and numbers have a point"),
        ("a\tb\n0.1\t0.9\n", "columns are separated by commas, and numbers have a point"),
        ("0\t1,x\n0\t1,0\n", "columns are separated by commas, and numbers have a point"),
        ("step,a,b\n" + "".join(f"{t},0.1,0.9\n" for t in range(3)), "without it, as with to_csv(path, index=False)"),
        ("".join(f"{t},0.1,0.9\n" for t in range(9)), "without it, as with to_csv(path, index=False)"),
        (",a,b\n0,0.1,0.9\n", "without it, as with to_csv(path, index=False)"),
        ("grün,blau\n0.1,0.2\n".encode("latin-1"), "(not UTF-8 text)"),
        ("0,1\n0.1,0.9\n", "write means as 0.0,1.0 and names as words, or none"),
        ("day,0,1\nMon,0.1,0.9\nTue,0.1,0.9\n", "write means as 0.0,1.0 and names as words, or none"),
        ("day,n,a,b\n" + "".join(f"d{t},{t},0.1,0.9\n" for t in range(3)), "as with to_csv(path, index=False)"),
        ("day,a,b\nMon;1,0.1,0.9\n", "columns are separated by commas, and numbers have a point"),
        ('day,a\n"0;1",0\n"0;9",1\n', "columns are separated by commas, and numbers have a point"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_a_hint(tmp_path: Path, content: str | bytes, hint: str) -> None:
    with pytest.raises(db.InvalidValue) as error:
        db.FromMeans(means=written(tmp_path, content))
    assert str(error.value).endswith(hint)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "steps", "arms"),
    [
        ("date,a,b\n2012-01-01,0.1,0.9\n2012-01-02,0.5,0.5\n", ("2012-01-01", "2012-01-02"), ("a", "b")),
        (",a,b\n2012-01-01,0.1,0.9\nlast, 0.5 ,0.5\n", ("2012-01-01", "last"), ("a", "b")),
        ("day,part,a,b\nMon, early,0.1,0.9\nMon,late,0.5,0.5\n", ("Mon early", "Mon late"), ("a", "b")),
        ("Mon,0.1,0.9\nTue,0.5,0.5\n", ("Mon", "Tue"), ("arm 1", "arm 2")),
        ("0.1,0.9\n0.5,0.5\n", (), ("arm 1", "arm 2")),
        ("a,b\n0.1,0.9\n0.5,0.5\n", (), ("a", "b")),
        ("a,\n0.1,0.9\n0.5,0.5\n", (), ("arm 1", "arm 2")),
    ],
    ids=["dates", "an index of names", "two columns", "no header", "no names", "arms alone", "a name is missing"],
)
def test_leading_columns_without_numbers_name_the_steps(
    tmp_path: Path, content: str, steps: tuple[str, ...], arms: tuple[str, ...]
) -> None:
    environment = db.FromMeans(means=written(tmp_path, content))
    assert environment == db.FromMeans(means=[[0.1, 0.9], [0.5, 0.5]])
    assert environment.means.steps == steps
    assert environment.means.arms == arms
    assert environment.means.rows(2, 2).steps == steps[1:]


def test_names_of_steps_leave_as_many_arms_as_pandas_names(tmp_path: Path) -> None:
    path = written(tmp_path, "date,0,1,2\nMon,0,1,0.5\nTue,0,1,0.5\n")
    assert db.FromMeans(means=path) == db.FromMeans(means=[[0, 1, 0.5]] * 2)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("date,hour,a,b\nMon,6,0.1,0.9\n", "means must be in [0, 1], got '6' in line 2, column 2"),
        ("date,a,b\nMon,0.1,0.9\n2,0.1,0.9\n", "means must be in [0, 1], got 'Mon' in line 2, column 1"),
        ("3,0.1,0.9\nMon,0.1,0.9\n", "means must be in [0, 1], got '3' in line 1, column 1"),
        ("date,a,b\nMon,0.1,0.9\n,0.1,0.9\n", "means must be in [0, 1], got 'Mon' in line 2, column 1"),
        ("date,a,b\nMon,0.1,1.9\n", "means must be in [0, 1], got '1.9' in line 2, column 3"),
        ("date,a,b\nMon,0.1,x\n", "means must be in [0, 1], got 'x' in line 2, column 3"),
        ("date,a,b\nMon,0.1\nTue,0.1,0.2\n", "means must have 2 columns in every row, got 3 in line 3"),
        ("date,a\nMon,0.1\n", "means must be a table with a row a step, at least two columns (arms)"),
        ("date,a,b\nMon,x,y\n", "means must be in [0, 1], got 'Mon' in line 2, column 1"),
        ("date,a,b\n", "means must have at least one row"),
        ('a,b,c\n"0,5",0.1,0.2\n"0,7",0.1,0.2\n', "means must be in [0, 1], got '0,5' in line 2, column 1"),
        ("date,a,b\nnan,0.1,0.2\n", "means must be in [0, 1], got 'nan' in line 2, column 1"),
    ],
)
def test_what_is_neither_a_name_nor_a_mean_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    with pytest.raises(db.InvalidValue) as error:
        db.FromMeans(means=written(tmp_path, content))
    assert str(error.value).startswith(complaint)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("arms", [3, 12])
def test_names_that_pandas_gives_are_no_means(tmp_path: Path, arms: int) -> None:
    row = ",".join(["0.5"] * arms)
    path = written(tmp_path, ",".join(map(str, range(arms))) + f"\n{row}\n{row}\n")
    assert db.FromMeans(means=path) == db.FromMeans(means=[[0.5] * arms] * 2)


def test_means_of_0_and_1_may_begin_a_file(tmp_path: Path) -> None:
    assert db.FromMeans(means=written(tmp_path, "0.0,1.0\n1,0\n")) == db.FromMeans(means=[[0, 1], [1, 0]])


def test_the_name_of_the_file_is_in_the_result_and_makes_no_difference(tmp_path: Path) -> None:
    read, given = db.FromMeans(means=written(tmp_path, "0.2,0.8\n")), db.FromMeans(means=[[0.2, 0.8]])
    assert str(read) == "from-means:means=<means.csv: 1 steps of 2 arms>"
    assert str(given) == "from-means:means=<1 steps of 2 arms>"
    assert read == given
    assert hash(read) == hash(given)
    result = db.simulate(db.UniformRandom(), read, horizon=2, runs=2, progress=False)
    assert "means.csv" in result.environment


@pytest.mark.parametrize(
    ("cell", "place"), [(float("nan"), (0, 0)), (float("inf"), (1, 1)), (-0.5, (0, 1)), (2, (1, 0))]
)
def test_a_wrong_cell_of_an_array_is_named(cell: float, place: tuple[int, int]) -> None:
    table = [[0.5, 0.5], [0.5, 0.5]]
    table[place[0]][place[1]] = cell
    with pytest.raises(db.InvalidValue, match=rf"in row {place[0] + 1}, column {place[1] + 1}$"):
        db.FromMeans(means=table)

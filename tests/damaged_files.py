"""Damaged files by the thousand, in a process of its own: `python damaged_files.py KIND COUNT FOLDER`.

Each is refused with one line, or is loaded and works. The process may take little more memory than it has at the start;
who started it limits its time. It prints what it did as JSON.
"""

import io
import json
import math
import random
import resource
import struct
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import driftbandit as db

MORE_MEMORY = 1 << 29
WHOLE = [0, 1, -1, 2, 3, 7, 255, 2**15, 2**16, 2**20, 2**24, 2**30, 2**31 - 1, -(2**31), -(2**30), 10**9]
REAL = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e-300, -1e-9, -1.0, 2.0, 1e16, 0.0]
FOREIGN = [
    b"", b"\0", b"CDF", b"CDF\x01", b"CDF\x02", b"CDF\x05", b"CDF\xff", b"\x89HDF\r\n\x1a\n" + b"\0" * 99,
    b"PK\x03\x04", b"{}", b"[[0.1, 0.9]]", b"<html></html>", b"\x1f\x8b\x08", b"\x93NUMPY\x01\x00",
    b"0.1 0.9\n", b"\xef\xbb\xbf", b"\r", b'"' * 99, b",,,,\n" * 9, b"\xff" * 4096, b"0" * 200_000, b"0.5," * 50_000,
    b"CDF\x02" + b"\x7f\xff\xff\xff" * 999,
]  # fmt: skip
CELLS = [
    "nan", "inf", "-inf", "1e308", "1e400", "-0", "-0.0", "1e-400", "5e-324", "1.0000000000000002", "0x1", "1_0", "٠.٥",
    "", " ", '"', '""', "None", "1;0", "0,1", "0.1\n", "\0", "é", "\ud7ff", "a" * 200_000, "9" * 5000, "+.5", "--1",
]  # fmt: skip


def flipped(dice: random.Random, data: bytearray) -> bytearray:
    for _ in range(dice.choice([1, 1, 1, 2, 4, 16])):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return data


def cut(dice: random.Random, data: bytearray) -> bytearray:
    return data[: dice.randrange(len(data))]


def spliced(dice: random.Random, data: bytearray) -> bytearray:
    start, stop = sorted(dice.randrange(len(data) + 1) for _ in range(2))
    stop = min(stop, start + dice.choice([1, 4, 8, 100]))
    place = dice.randrange(len(data) + 1)
    return dice.choice([data[:start] + data[stop:], data[:place] + data[start:stop] + data[place:]])


def foreign(dice: random.Random, data: bytearray) -> bytearray:
    found = bytearray(dice.choice([*FOREIGN, dice.randbytes(dice.randrange(5000))]))
    return dice.choice([found, found + data, data + found])


def with_whole(dice: random.Random, data: bytearray) -> bytearray:
    """Another whole number in the header, where lengths, counts, types and offsets are."""
    for _ in range(dice.choice([1, 1, 2, 3])):
        place = 4 * dice.randrange(len(data) // 8)
        struct.pack_into(">i", data, place, dice.choice([*WHOLE, dice.randrange(-(2**31), 2**31)]))
    return data


def with_real(dice: random.Random, data: bytearray) -> bytearray:
    place = 4 * dice.randrange(len(data) // 8, len(data) // 4 - 1)
    struct.pack_into(">d", data, place, dice.choice(REAL))
    return data


def with_text(dice: random.Random, data: bytearray) -> bytearray:
    old = dice.choice([b"fast", b"ucb1", b"uniform", b"step", b"run", b"policy", b"_FillValue", b"_Encoding", b"utf-8",
                       b"regret", b"horizon", b"format"])  # fmt: skip
    new = bytes(dice.choice(b"aZ09 _$\\{}%\n\r\0\xc3\xa9:,=") for _ in old)
    return bytearray(bytes(data).replace(old, new, dice.choice([1, 1, -1])))


def with_cells(dice: random.Random, data: bytearray) -> bytearray:
    lines = [line.split(",") for line in data.decode().split("\n")]
    for _ in range(dice.choice([1, 1, 2, 5])):
        line = dice.choice(lines)
        what = dice.randrange(4)
        if what == 0 and len(line) > 1:
            line.pop(dice.randrange(len(line)))
        elif what == 1:
            line.insert(dice.randrange(len(line) + 1), dice.choice(CELLS))
        else:
            line[dice.randrange(len(line))] = dice.choice(CELLS)
    separator = dice.choice([",", ",", ",", ";", "\t", ", "])
    encoding = dice.choice(["utf-8", "utf-8", "utf-8", "utf-16", "utf-8-sig"])
    return bytearray("\n".join(separator.join(line) for line in lines).encode(encoding, "replace"))


class Results:
    """Saved results."""

    changes = (flipped, cut, spliced, foreign, with_whole, with_whole, with_whole, with_real, with_text)

    def __init__(self, folder: Path) -> None:
        result = db.simulate([db.UCB1(), db.UniformRandom()], db.Fast(), horizon=12, runs=3, seed=3, progress=False)
        result.save(folder / "right")
        right = (folder / "right").read_bytes()
        self.files = [right, *self.others(result.dataset)]

    def others(self, dataset: Any) -> list[bytes]:
        """Right netCDF files with other content."""
        other = [
            dataset.drop_vars("regret"), dataset.drop_vars("policy"), dataset.isel(run=slice(0, 0)),
            dataset.isel(step=slice(0, 3)), dataset.assign(regret=dataset["regret"].astype("f4")),
            dataset.assign(regret=dataset["choices"]), dataset.transpose(), dataset.assign_attrs(horizon="1e3"),
            dataset.assign_attrs(format=2), dataset.assign_attrs(seed=-1),
            dataset.assign(choices=dataset["choices"] * 2), dataset.assign_coords(policy=["ucb1", "ucb1"]),
            dataset.assign_coords(policy=[1, 2]), dataset.isel(policy=0),
            dataset.assign_coords(arm=list("abcd")), dataset.assign(more=("x", [1.0, 2.0])),
        ]  # fmt: skip
        return [bytes(each.to_netcdf(engine="scipy", format="NETCDF3_64BIT")) for each in other]

    def use(self, path: Path, thoroughly: bool) -> None:
        result = db.Result.load(path)
        for look in ("policies", "environment", "horizon", "runs", "seed", "normalized_regret", "mean_reward",
                     "static_regret", "regret_over_time", "reward_over_time", "choice_frequency"):  # fmt: skip
            repr(getattr(result, look))
        result.difference(result.policies[0], result.policies[-1])
        repr(result)
        if thoroughly:
            result.plot().savefig(io.BytesIO(), format="svg")
            result.save(path.with_name("again"))
            assert db.Result.load(path.with_name("again")).dataset.identical(result.dataset)


class Means:
    """CSV files of means."""

    changes = (flipped, cut, spliced, foreign, with_cells, with_cells, with_cells)

    def __init__(self, folder: Path) -> None:
        rows = "".join(f"0.{i},{i / 7},1,{i}e-2\n" for i in range(7))
        self.files = [
            rows.encode(),
            b"red,green,blue,grey\n" + rows.encode(),
            b"0.5,0.5\n",
            b"day,hour,red,green\n" + b"".join(b"2013-01-0%d,%d:00,0.%d,1\n" % (i, i, i) for i in range(1, 8)),
            b"\xef\xbb\xbf0.5,0.5\r\n1,0\r\n",
        ]

    def use(self, path: Path, thoroughly: bool) -> None:
        environment = db.FromMeans(means=path)
        assert 0.0 <= environment.means.values.min() <= environment.means.values.max() <= 1.0
        assert "\n" not in str(environment)
        json.dumps(environment.parameters())
        assert len(environment.means.arms) == environment.n_arms
        assert len(environment.means.steps) in (0, len(environment.means))
        assert not any("\n" in name for name in (*environment.means.arms, *environment.means.steps))
        if thoroughly:
            repr(db.simulate(db.UniformRandom(), environment, horizon=3, runs=2, progress=False).normalized_regret)


def tried(use: Callable[[], None]) -> str:
    """Why a file was refused; nothing where it was not."""
    try:
        use()
    except db.InvalidValue as error:
        message = str(error)
        assert message, "says nothing"
        assert "\n" not in message, message
        assert "\r" not in message, message
        assert len(message) < 400, message
        return message
    return ""


def main(name: str, count: int, folder: Path) -> None:
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", message="Glyph")  # a letter that the font of pictures does not have
    kind: Results | Means = {"results": Results, "means": Means}[name](folder)
    dice = random.Random(20)
    path = folder / "file"
    for content in kind.files:
        path.write_bytes(content)
        tried(lambda: kind.use(path, thoroughly=True))
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MORE_MEMORY,) * 2)
    began, refused = time.monotonic(), 0
    for number in range(count):
        change = dice.choice(kind.changes)
        content = bytes(change(dice, bytearray(kind.files[0] if dice.random() < 0.8 else dice.choice(kind.files))))
        path.write_bytes(content)  # left behind by whatever ends this process
        try:
            refused += bool(tried(lambda number=number: kind.use(path, thoroughly=number % 20 == 0)))
        except BaseException as error:
            raise RuntimeError(f"file {number}, {change.__name__}, in {path}") from error
    print(json.dumps({"tried": count, "refused": refused, "seconds": round(time.monotonic() - began, 1)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))

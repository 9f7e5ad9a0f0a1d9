"""Writes the Arrow files of this folder with pyarrow: the table of `../parquet/table.csv`, and columns that cannot be read."""
import decimal
import pathlib

import pyarrow as pa
import pyarrow.feather as feather

here = pathlib.Path(__file__).parent
rows = 40
y = [round(0.25 * i - 3, 2) if i % 7 else None for i in range(rows)]
k = [i * i for i in range(rows)]
site = [["north", "south", "east, far"][i % 3] if i % 11 else None for i in range(rows)]
smoker = [i % 2 == 0 for i in range(rows)]
single = [0.5 * i for i in range(rows)]


def table(text):
    return pa.table({
        "y": pa.array(y, pa.float64()),
        "k": pa.array(k, pa.int64()),
        "site": text,
        "smoker": pa.array(smoker, pa.bool_()),
        "single": pa.array(single, pa.float32()),
        "small": pa.array(k, pa.uint16()),
    })


plain, long = pa.array(site, pa.string()), pa.array(site, pa.large_string())
factor = pa.array(site, pa.string()).dictionary_encode()
feather.write_feather(table(plain), here / "default.feather", chunksize=15)
feather.write_feather(table(long), here / "plain.feather", compression="uncompressed")
feather.write_feather(table(factor), here / "factor.feather", chunksize=30)
feather.write_feather(table(plain), here / "zstd.feather", compression="zstd")
with pa.ipc.new_stream(here / "stream.arrows", table(factor).schema) as out:
    out.write_table(table(factor), max_chunksize=7)

# Everything between the first column and the last is stepped over.
odd = pa.table({
    "y": pa.array(y, pa.float64()),
    "lists": pa.array([[i] for i in range(rows)]),
    "pairs": pa.array([{"a": i, "b": [str(i)]} for i in range(rows)]),
    "price": pa.array([decimal.Decimal("1.50")] * rows),
    "day": pa.array([10_000 + i for i in range(rows)], pa.date32()),
    "huge": pa.array([2**60 + i for i in range(rows)], pa.int64()),
    "view": pa.array([s or "a rather long text, longer than twelve bytes" for s in site], pa.string_view()),
    "nothing": pa.nulls(rows),
    "last": pa.array([-i for i in k], pa.int16()),
})
feather.write_feather(odd, here / "odd.feather")

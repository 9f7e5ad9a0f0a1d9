"""Writes the Parquet files of this folder with pyarrow, each the table of `table.csv` or a column that cannot be read."""
import decimal
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

here = pathlib.Path(__file__).parent
rows = 40
y = [round(0.25 * i - 3, 2) if i % 7 else None for i in range(rows)]
k = [i * i for i in range(rows)]
site = [["north", "south", "east, far"][i % 3] if i % 11 else None for i in range(rows)]
smoker = [i % 2 == 0 for i in range(rows)]
single = [0.5 * i for i in range(rows)]

table = pa.table({
    "y": pa.array(y, pa.float64()),
    "k": pa.array(k, pa.int64()),
    "site": pa.array(site, pa.string()),
    "smoker": pa.array(smoker, pa.bool_()),
    "single": pa.array(single, pa.float32()),
    "small": pa.array(k, pa.uint16()),
})
pq.write_table(table, here / "default.parquet", row_group_size=15)
pq.write_table(table, here / "plain.parquet", compression="none", use_dictionary=False)
pq.write_table(table, here / "second.parquet", data_page_version="2.0", data_page_size=64)
for name in ["zstd", "gzip", "lz4", "brotli"]:
    pq.write_table(table, here / f"{name}.parquet", compression=name)
odd = pa.table({
    "y": pa.array(y, pa.float64()),
    "lists": pa.array([[i] for i in range(rows)]),
    "price": pa.array([decimal.Decimal("1.50")] * rows),
    "huge": pa.array([2**60 + i for i in range(rows)], pa.int64()),
    "last": pa.array(k, pa.int32()),
})
pq.write_table(odd, here / "odd.parquet")

with open(here / "table.csv", "w") as out:
    print("y,k,site,smoker,single,small", file=out)
    for row in zip(y, k, site, smoker, single, k):
        cells = ["NA" if c is None else f'"{c}"' if isinstance(c, str) else str(int(c)) if isinstance(c, bool) else str(c) for c in row]
        print(",".join(cells), file=out)

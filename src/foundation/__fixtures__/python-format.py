"""Writes python-format.json: what CPython prints for each number. Run: python3 python-format.py"""
import json
import platform
import random
import struct
from pathlib import Path

rng = random.Random(20260102)
numbers = [0.0, -0.0, 1.0, 0.5, 1.5, 2.5, 0.125, 0.375, 0.625, 0.875, 4.125, -4.125, 2.675, 1.005, 0.005, 0.015,
           0.045, 0.145, 99.995, 999.995, 1e15 + 0.125, 123456.5, 1234565.0, 1234575.0, 0.0001, 0.00001, 1e16,
           1e15, 9999999.0, 999999.5, 1e21, 1.5e22, 1e300, 5e-324, 1.7976931348623157e308, 10.0, 900.0, 21600.0,
           0.1, 1 / 3, 100.0, 1e-5, 12345.678, 1e6, 1e7, 2.5e-7, 0.99995, 0.995, 0.00012345650000000001]
numbers += [k / 8 for k in range(1, 80)]
numbers += [rng.uniform(0, 10 ** rng.randint(-6, 9)) for _ in range(300)]
numbers += [round(rng.uniform(0, 1000), 3) for _ in range(300)]
while len(numbers) < 1000:
    (value,) = struct.unpack("<d", rng.randbytes(8))
    if value == value and abs(value) != float("inf"):
        numbers.append(value)
rows = [[n, f"{n:.2f}", f"{n:.0f}", f"{n:.2%}", f"{n:g}", str(n)] for n in numbers]
out = Path(__file__).with_suffix(".json")
header = f'{{"python": "{platform.python_version()}", "columns": ["value", ".2f", ".0f", ".2%", "g", "str"], "rows": [\n'
out.write_text(header + ",\n".join(json.dumps(row) for row in rows) + "\n]}\n")

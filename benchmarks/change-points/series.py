"""Labelled series of otava-test-data, and the change points that Apache Otava's own algorithm finds in them, as lines of JSON.

    python3 -m venv otava && otava/bin/pip install 'otava-test-data[web]==0.1.9' apache-otava==0.8.0
    otava/bin/python benchmarks/change-points/series.py SEEDS LENGTH …
"""

import json
import sys

from otava.analysis import compute_change_points
from otava_test_data.web.main import GENERATORS

# Otava's own defaults, and those that the visualizer of otava-test-data shows it with.
SETTINGS = {"otava": (50, 0.001), "otava, window 30, p 0.05": (30, 0.05)}


def series(name, length, seed):
    generator = GENERATORS[name]
    defaults = {key: value["default"] for key, value in generator["params"].items() if "default" in value}
    return generator["func"](length=length, seed=seed, **defaults)


def found(values, window, p_value):
    return sorted(int(point.index) for point in compute_change_points(list(values), window, p_value)[0])


seeds, *lengths = map(int, sys.argv[1:])
for name in GENERATORS:
    for length in lengths:
        for seed in range(seeds):
            one = series(name, length, seed)
            values = [float(value) for value in one.data]
            # The package counts outliers as no change points, too.
            truth = [int(point.index) for point in one.change_points if point.change_type != "outlier"]
            line = {"pattern": name, "length": length, "seed": seed, "values": values, "truth": truth}
            line["found"] = {label: found(values, *setting) for label, setting in SETTINGS.items()}
            print(json.dumps(line))

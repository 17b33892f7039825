"""What the figures were taken on, and how restless it was meanwhile."""

import os
import platform
import sqlite3
import statistics
import time
from importlib.metadata import version
from typing import Any

from measuring import median_ms, percentile_ms

PACKAGES = ("boto3", "dbos", "jinja2", "langgraph", "langgraph-checkpoint-sqlite", "pydantic", "pydantic-ai-slim")
_PROBES = 200


def describe() -> dict[str, Any]:
    return {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: version(name) for name in PACKAGES},
    }


def noise() -> dict[str, float]:
    """The same little work again and again: on a quiet machine the slowest takes little longer than the median, and
    nobody else takes the processor away (`share` of wall time in which it was ours)."""
    wall, cpu = [], []
    for _ in range(_PROBES):
        began, used = time.perf_counter(), time.process_time()
        sum(number * number for number in range(20_000))
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - used)
    return {
        "probe_ms": round(median_ms(wall), 3),
        "p99_to_median": round(percentile_ms(wall, 99) / median_ms(wall), 2),
        "share": round(statistics.fmean(cpu) / statistics.fmean(wall), 2),
        "load": round(os.getloadavg()[0], 2),
    }

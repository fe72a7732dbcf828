#!/usr/bin/env python3
"""Usage: seeds.py FOLDER   Writes into FOLDER/READER what tests and data of this project have for each reader of
ci/fuzz/readers.cpp: their literals R"(…)" and stored files. Run in the root of the project."""
import glob
import pathlib
import re
import shutil
import sys

JOB = "harness/training/job/"
SOURCES = {  # tests and stored files, by reader
    "suite": ["harness/core/plan/suite_test.cpp", "harness/app/file_faults_test.cpp", "suites/*.json"],
    "project": ["harness/app/file_faults_test.cpp", "ci/starter/assay.json"],
    "results": ["harness/app/data/results.json", "harness/app/data/*/stored.json"],
    "baseline": ["harness/app/data/*/stored.json"],
    "foreign": ["harness/bench/exchange/*_test.cpp", "harness/app/data/results.json"],
    "gate": ["harness/app/data/gate.json"],
    "claims": ["harness/bench/report/claims_test.cpp", "suites/claims.json"],
    "phases": [JOB + "phases_json_test.cpp", JOB + "data/*.json"],
    "job": ["suites/jobs/*.json"],
    "steps": [JOB + "step_csv_test.cpp"],
    "kineto": [JOB + "kineto_test.cpp"],
    "traced_step": [JOB + "traced_step_test.cpp", JOB + "kineto_test.cpp"],
    "memory_events": [JOB + "memory_events_test.cpp"],
    "requests": ["reference/allocator_trace_test.cpp"],
    "task_graph": ["reference/task_dag_test.cpp"],
}
# Traces of tests are put together from events; here is a whole one.
TRACE = """{"traceEvents": [
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100,"args":{}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5,"args":{"Concrete Inputs":["",""],
"Input type":["float","float"],"Input Strides":[[16,1],[1,16]],"Input Dims":[[8,16],[16,4]]}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":2,"args":{"Addr":4096,"Bytes":64,
"Device Type":0,"Device Id":-1,"Total Allocated":64}}]}"""

folder = pathlib.Path(sys.argv[1])
for reader, sources in SOURCES.items():
    out = folder / reader
    out.mkdir(parents=True, exist_ok=True)
    if reader in ("kineto", "traced_step", "memory_events"):
        (out / "trace").write_text(TRACE)
    for pattern in sources:
        if not glob.glob(pattern):
            sys.exit(f"{pattern}: no such file: the seeds of {reader} have moved")
    for path in (pathlib.Path(name) for pattern in sources for name in glob.glob(pattern)):
        if path.suffix != ".cpp":
            shutil.copy(path, out / path.name)
            continue
        literals = re.findall(r'R"([a-zA-Z_]*)\((.*?)\)\1"', path.read_text(), re.S)
        for number, (_, text) in enumerate(literals):
            (out / f"{path.stem}-{number}").write_text(text)

#!/usr/bin/env python3
"""Usage: seeds.py FOLDER   Writes into FOLDER/READER what tests and data of this project have for each reader of
ci/fuzz/readers.cpp: their literals R"(…)" and stored files, and those that are made here. Ends with 1 where a reader
has no seed, neither of these nor in ci/fuzz/corpus/READER, or a format of results has none. Run in the root of the
project."""
import glob
import gzip
import json
import pathlib
import re
import shutil
import struct
import sys

JOB = "harness/training/job/"
GATE = "harness/bench/gate/"
SOURCES = {  # tests and stored files, by reader
    "suite": ["harness/core/plan/suite_test.cpp", "harness/app/file_faults_test.cpp", "suites/*.json"],
    "project": ["harness/app/file_faults_test.cpp", "ci/starter/assay.json"],
    "results": ["harness/app/data/results.json", "harness/app/data/*/stored.json"],
    "baseline": ["harness/app/data/*/stored.json"],
    "foreign": ["harness/bench/exchange/*_test.cpp", "harness/app/data/results.json"],
    "gate": ["harness/app/data/gate.json"],
    "shard": ["harness/app/data/gate.json", "harness/app/data/results.json"],
    "limits": ["harness/app/compare_verb_test.cpp"],
    "claims": ["harness/bench/report/claims_test.cpp", "suites/claims.json"],
    "phases": [JOB + "phases_json_test.cpp", JOB + "data/*.json"],
    "job": ["suites/jobs/*.json"],
    "epoch_log": ["harness/app/data/epoch-log.jsonl"],
    "kineto": [JOB + "kineto_test.cpp"],
    "traced_step": [JOB + "traced_step_test.cpp", JOB + "kineto_test.cpp"],
    "memory_events": [JOB + "memory_events_test.cpp"],
    "requests": ["reference/allocator_trace_test.cpp"],
    "benchmark_times": [GATE + "benchmark_programs_test.cpp"],
    "hot_symbols": [GATE + "hot_symbols_test.cpp"],
    "link": ["harness/bench/programs/link_recipe_test.cpp"],
}
# Traces of tests are put together from events; here is a whole one.
TRACE = """{"traceEvents": [
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100,"args":{}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5,"args":{"Concrete Inputs":["",""],
"Input type":["float","float"],"Input Strides":[[16,1],[1,16]],"Input Dims":[[8,16],[16,4]]}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":2,"args":{"Addr":4096,"Bytes":64,
"Device Type":0,"Device Id":-1,"Total Allocated":64}}]}"""


def elf():
    """A program with a function, a text that it refers to, and a table of pointers that the loader fills."""
    words = [b".text", b".rodata", b".data.rel.ro", b".dynsym", b".rela.dyn", b".symtab", b".strtab", b"one", b"table",
             b"there", b"a.cpp"]
    names = b"\0" + b"".join(word + b"\0" for word in words)

    def name(word):
        return names.index(b"\0" + word + b"\0") + 1

    def symbol(word, info, section, value, size):
        return struct.pack("<IBBHQQ", name(word) if word else 0, info, 0, section, value, size)

    header, text, rodata, table, end = 64, 64, 80, 96, 112  # addresses are offsets
    none = symbol(b"", 0, 0, 0, 0)
    dynamic = none + symbol(b"there", 0x10, 0, 0, 0)
    local = none + symbol(b"a.cpp", 4, 0xfff1, 0, 0) + symbol(b"one", 2, 1, text, 8) + symbol(b"table", 1, 3, table, 16)
    # R_X86_64_64 of the import, and R_X86_64_RELATIVE to the function.
    relocations = struct.pack("<QQqQQq", table, 1 << 32 | 1, 0, table + 8, 8, text)
    parts = [dynamic, relocations, local, names]
    places = [end + sum(map(len, parts[:i])) for i in range(len(parts))]
    lea_and_return = b"\x48\x8d\x05" + struct.pack("<i", rodata - text - 7) + b"\xc3"
    body = (lea_and_return + b"\0" * 8 + b"a text\0".ljust(16, b"\0") + b"\0" * 16 + b"".join(parts))
    sections = [  # name, type, flags, place, size, link, info, alignment, size of an entry
        (0, 0, 0, 0, 0, 0, 0, 0, 0),
        (name(b".text"), 1, 6, text, 8, 0, 0, 16, 0),
        (name(b".rodata"), 1, 2, rodata, 16, 0, 0, 1, 0),
        (name(b".data.rel.ro"), 1, 3, table, 16, 0, 0, 8, 0),
        (name(b".dynsym"), 11, 2, places[0], len(dynamic), 7, 1, 8, 24),
        (name(b".rela.dyn"), 4, 2, places[1], len(relocations), 4, 0, 8, 24),
        (name(b".symtab"), 2, 0, places[2], len(local), 7, 4, 8, 24),
        (name(b".strtab"), 3, 0, places[3], len(names), 0, 0, 1, 0)]
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, text, 0, header + len(body), 0, header, 0, 0, 64, len(sections), 7)
    return head + body + b"".join(
        struct.pack("<IIQQQQIIQQ", n, kind, flags, place if flags else 0, place, size, link, info, alignment, entry)
        for n, kind, flags, place, size, link, info, alignment, entry in sections)


def archive():
    """As GNU ar writes it: a table of long names, and two members."""
    def member(name, content):
        return f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content + b"\n" * (len(content) % 2)
    return (b"!<arch>\n" + member("//", b"a_name_of_many_letters.cpp.o/\n") + member("/0", b"one") +
            member("a.cpp.o/", b"four"))


def records():
    """Two records of 16 bytes. The checksum of the header is put in by the reader."""
    head = struct.pack("<8sIIQQQQ", b"ASSAYREC", 1, 4096, 16, 2, 0, 0)
    return head.ljust(4096, b"\0") + bytes(range(32))


def made():
    """Seeds by reader and name."""
    gate = json.dumps(json.loads(pathlib.Path("harness/app/data/gate.json").read_text()))
    out = {"elf": {"program": elf()}, "archive": {"two_members": archive()}, "records": {"two": records()},
           "kept_gates": {"gate": gate.encode() + b"\n"}}
    for reader in ("kineto", "traced_step", "memory_events"):
        out[reader] = {"trace": TRACE.encode(), "trace.gz": gzip.compress(TRACE.encode(), mtime=0)}
    return out


def faults(seeded):
    """What is missing where these readers have seeds from here. Earlier finds in the folder count for nothing."""
    readers = set(re.findall(r'^ *\{"(\w+)",', pathlib.Path("ci/fuzz/readers.cpp").read_text(), re.M))
    seeded = seeded | {pathlib.Path(one).parent.name for one in glob.glob("ci/fuzz/corpus/*/*")}
    table = pathlib.Path("harness/bench/exchange/read_results.cpp").read_text()
    formats = {one.lower().replace(" ", "_") for one in re.findall(r'\{\.name = "([^"]+)"', table)} - {"assay"}
    stored = {pathlib.Path(one).name for one in glob.glob("ci/fuzz/corpus/foreign/*")}
    if not readers or not formats:
        return ["no reader or no format was found: the tables have moved"]
    return ([f"the reader {one} has no seed" for one in sorted(readers - seeded)] +
            [f"{one} has seeds and is no reader" for one in sorted(seeded - readers)] +
            [f"the format {one} has no seed ci/fuzz/corpus/foreign/{one}" for one in sorted(formats - stored)])


def main(folder):
    seeded = set()
    for reader, sources in SOURCES.items():
        out = folder / reader
        out.mkdir(parents=True, exist_ok=True)
        for pattern in sources:
            if not glob.glob(pattern):
                sys.exit(f"{pattern}: no such file: the seeds of {reader} have moved")
        for path in (pathlib.Path(name) for pattern in sources for name in glob.glob(pattern)):
            if path.suffix != ".cpp":
                shutil.copy(path, out / path.name)
                seeded.add(reader)
                continue
            literals = re.findall(r'R"([a-zA-Z_]*)\((.*?)\)\1"', path.read_text(), re.S)
            for number, (_, text) in enumerate(literals):
                (out / f"{path.stem}-{number}").write_text(text)
                seeded.add(reader)
    for reader, seeds in made().items():
        (folder / reader).mkdir(parents=True, exist_ok=True)
        for name, content in seeds.items():
            (folder / reader / name).write_bytes(content)
            seeded.add(reader)
    if found := faults(seeded):
        sys.exit("\n".join(found))


main(pathlib.Path(sys.argv[1]))

#!/bin/sh
# Usage: ci/plugin/test.sh BUILD
# Plug-ins as their writers make them: in C, C++, Rust where there is rustc, CUDA where there is a device, and Python, with the program and the
# library of a release build.
set -eu
cd "$(dirname "$0")"
build=$(cd ../.. && cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
assay=$build/assay
include=$(cd ../../harness/include && pwd)
export ASSAY_LIBRARY="$build/libassay.so" ASSAY_PYTHON="$(cd ../../harness/python && pwd)"

fail() {
  echo "ci/plugin/test.sh: $1" >&2
  [ $# -lt 2 ] || cat "$2" >&2
  exit 1
}
# expect CODE TEXT COMMAND...
expect() {
  code=$1 text=$2
  shift 2
  got=0
  "$@" >"$scratch/out" 2>&1 || got=$?
  [ $got -eq "$code" ] || fail "exit code $got, not $code: $*" "$scratch/out"
  grep -q -- "$text" "$scratch/out" || fail "\"$text\" is not said by: $*" "$scratch/out"
}

cc -std=c11 -Wall -Wextra -Werror -O3 -fPIC -shared -I "$include" -o "$scratch/libc.so" example.c -lm
expect 0 'row_loop' "$assay" --plugin "$scratch/libc.so" check -k 'gemm/row_loop|swiglu'
expect 0 'swiglu/n=4096' "$assay" --plugin="$scratch/libc.so" run swiglu/n=4096
c++ -std=c++20 -Wall -Wextra -Werror -O3 -fPIC -shared -I "$include" -o "$scratch/libcpp.so" example.cpp
expect 0 'two_passes' "$assay" --plugin "$scratch/libcpp.so" check -k layernorm/two_passes
expect 0 'row_loop' "$assay" --plugin "$scratch/libc.so" --plugin "$scratch/libcpp.so" check -k 'row_loop|two_passes'
# Every verb that loads a library holds against it what it does then, and against none of its kernels.
printf '%s\n' '#include <xmmintrin.h>' \
  '__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8000); }' >"$scratch/flush.c"
cc -O3 -fPIC -shared -I "$include" -o "$scratch/libflush.so" example.c "$scratch/flush.c" -lm
for verb in 'check -k gemm/row_loop' 'run swiglu/n=4096' 'list gemm'; do
  # shellcheck disable=SC2086 # several words
  expect 2 'libflush.so: left the floating-point environment with flush-to-zero on' "$assay" --plugin "$scratch/libflush.so" $verb
done
if command -v rustc >/dev/null; then
  rustc --edition 2021 --crate-type cdylib -O -o "$scratch/librust.so" example.rs
  expect 0 'rust' "$assay" --plugin "$scratch/librust.so" check -k elementwise_add_backward/rust
else
  echo "ci/plugin/test.sh: no rustc here: the example in Rust is not built"
fi

if command -v nvcc >/dev/null && nvidia-smi >/dev/null 2>&1; then
  nvcc -O3 -Xcompiler -fPIC -shared -I "$include" -o "$scratch/libcuda_example.so" example.cu
  expect 0 'cuda_events' "$assay" --plugin "$scratch/libcuda_example.so" check -k 'gemm/cuda'
  expect 0 'cuda_events' "$assay" --plugin "$scratch/libcuda_example.so" run gemm/m=256,n=256,k=256 -k 'naive|cuda'
else
  echo "ci/plugin/test.sh: no nvcc or no device that runs CUDA here: the example in CUDA is not built"
fi

# An equal build of a plug-in is not measured. A slower one is named, here of a project whose target is a plug-in: both
# sides are built from its revisions.
cp "$scratch/libc.so" "$scratch/same.so"
expect 0 'identical machine code' "$assay" gate --base "$scratch/libc.so" --head "$scratch/same.so" -s swiglu/n=4096
project=$scratch/project
commit() {
  git -C "$project" add -A
  git -C "$project" -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q -m "$1"
}
gate() { (cd "$project" && "$assay" gate --base HEAD~1 -s "$1" --layouts 2 --budget 60); }
mkdir "$project"
git -C "$project" init -q
cp example.c "$project/kernels.c"
cat >"$project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(kernels LANGUAGES C)
add_library(kernels MODULE kernels.c)
target_include_directories(kernels PRIVATE ${ASSAY_INCLUDE})
target_link_libraries(kernels PRIVATE m)
END
echo '{"schema": "assay.project/1", "target": "kernels", "configure": ["-DASSAY_INCLUDE='"$include"'"]}' >"$project/assay.json"
commit one
echo '/* nothing else */' >>"$project/kernels.c"
commit comment
expect 2 'write "program": "libkernels.so" into assay.json' gate gemm/m=8,n=8,k=8
sed -i 's/"target"/"program": "libkernels.so", "target"/' "$project/assay.json"
git -C "$project" add -A
git -C "$project" -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q --amend -m comment
expect 0 'identical machine code' gate swiglu/n=4096
sed -i 's/z\[i\] = x\[i\] \/ (1 + expf(-x\[i\])) \* y\[i\];/z[i] = x[i] \/ (1 + expf(-x[i])) * y[i] + 0 * tanhf(x[i]) * tanhf(y[i]);/' \
  "$project/kernels.c"
commit slower
expect 1 'swiglu/naive' gate swiglu/n=4096

command -v python3 >/dev/null || { echo "ci/plugin/test.sh: no python3 here: assay.py is not tried"; exit 0; }
expect 0 'python' python3 example.py check -k 'elementwise_add_backward/python|twice'
expect 0 'returned  ' python3 example.py run twice/n=64 -k 'naive|returned'
for fault in 'raises:ValueError: no such tile' 'hangs:did not end within' 'exits:called exit(3)' \
  'shorter:returned .* elements for y' 'is wrong:compared elements disagree' \
  'cannot say:its unfit() raised KeyError'; do
  said=${fault#*:}
  got=0
  PYTHON_FAULT=${fault%%:*} python3 example.py check -k twice/bad --time-limit 2 >"$scratch/out" 2>&1 || got=$?
  [ $got -ne 0 ] && [ $got -ne 2 ] || fail "a kernel that ${fault%%:*} passed" "$scratch/out"
  grep -q -- "$said" "$scratch/out" || fail "\"$said\" is not said of a kernel that ${fault%%:*}" "$scratch/out"
done
if python3 -c 'import numpy' 2>/dev/null; then
  expect 0 'adamw' python3 frameworks.py check -k 'layernorm/numpy|adamw/numpy'
else
  echo "ci/plugin/test.sh: no numpy here: frameworks.py is not tried"
fi
if python3 -c 'import torch' 2>/dev/null; then
  agreeing='adamw|adamw_multi_tensor|attention|batch_norm|batch_norm_backward|batched_gemm|conv2d|conv2d_data_gradient'
  agreeing="$agreeing|conv2d_weight_gradient|dropout|elementwise_(add|multiply|relu|sigmoid|sigmoid_backward)"
  agreeing="$agreeing|elementwise_channel_bias_backward|embedding|embedding_backward|gemm|gemv|lstm|sgd|sgd_nesterov|softmax"
  expect 0 'softmax_cross_entropy' python3 frameworks.py check -k "^($agreeing|softmax_cross_entropy)/torch"
fi
python3 - <<'P' || fail "a problem got the fields of another whose buffers lay at the same addresses"
import ctypes, os, sys
sys.path.insert(0, os.environ["ASSAY_PYTHON"])
import assay
def scaled(x, alpha): x[0] = alpha
call = assay._Function(scaled, "test", "memoryview")
x = (ctypes.c_float * 4)()
tensor = assay._Tensor(name=b"x", type=0, use=1, width=4, size=4, axes=1, data=ctypes.addressof(x))
tensor.extent[0] = 4
def called(alpha):
    field = assay._Field(b"alpha", alpha)
    problem = assay._Problem(threads=1, field_count=1, fields=ctypes.pointer(field))
    return call(ctypes.pointer(problem), ctypes.pointer(tensor), 1), call.failure, x[0]
assert called(3) == (0, None, 3), called(3)
assert called(-2) == (0, None, -2), called(-2)
P
python3 - <<'P' || fail "assay.compare() went wrong"
import array, os, sys
sys.path.insert(0, os.environ["ASSAY_PYTHON"])
import assay
x = array.array("d", range(2000))
def f(x): return array.array("d", [v + 1 for v in x])
def g(x): return array.array("d", [v + 1 for v in x for _ in range(3)][::3])
def wrong(x): return array.array("d", [v + 2 for v in x])
slower = assay.compare(f, g, x, budget=30, quiet=True)
assert slower.word == "slower" and slower.ratio > 1.1, slower.text
assert "@g" in slower.text and "next:" not in slower.text, "the command that repeats it needs this process"
same = assay.compare(f, f, x, budget=20, quiet=True)
assert same.word in ("same", "not slower", "undecided"), same.text
assert assay.compare(f, wrong, x, budget=10, quiet=True).word == "wrong"
assert assay.compare(lambda: 20000000, lambda: 20000001, budget=10, quiet=True).word == "wrong"
by_times = ("same", "faster", "slower", "not slower", "probably slower", "undecided")
def word(f, g, *x): return assay.compare(f, g, *x, budget=8, quiet=True).word
for other in (lambda: [9, 9], lambda: [1, 2, 4], lambda: (1, 2, 3), lambda: None, lambda: [1, 2, 3.5]):
    assert word(lambda: [1, 2, 3], other) not in by_times
nested = {"a": [(1, 2.5), {"x"}, "text", None], "b": 1 + 2j}
def changed(key, value): return lambda: {**nested, key: value}
for other in (changed("b", 1 + 3j), changed("a", [(1, 2.5), {"y"}, "text", None]), changed("c", 1),
              changed("a", [(1, 2.5), {"x"}, "other", None]), changed("a", [(1, 2.5), {"x"}, "text", 0])):
    assert word(lambda: nested, other) not in by_times
assert word(lambda: nested, lambda: dict(reversed(nested.items()))) in by_times
for result, name in (((i for i in range(3)), "generator"), (object(), "object"), (range(3), "range")):
    try:
        assay.compare(lambda: (1, [result]), lambda: 1)
        sys.exit(f"compare() took a {name} for a result")
    except assay.AssayError as refused:
        assert f"first returned a {name}, which cannot be compared" in str(refused), refused
named = assay.compare(f, g, x, budget=8, quiet=True)
assert "compare/g/" in named.text and "@f" in named.text and str(named) == repr(named), named.text
def misses(x, alhpa): pass
assay.variant("layernorm", misses)
assert "misses" in str(assay._script.kernels[-1].name)
try:
    assay._Parameters(misses, "m").of({"x": memoryview(b""), "y": memoryview(b""), "rows": 2})
    sys.exit("a parameter that there is not was taken")
except TypeError as wrong_signature:
    assert "alhpa, and there are the tensors x, y, in this order, and the fields rows" in str(wrong_signature)
try:
    assay.compare(f, 3)
    sys.exit("compare() took a number for a function")
except assay.AssayError:
    pass
P
timed=$(mktemp -d) && (cd "$timed" && python3 - <<'P') || fail "assay.timed() went wrong"
import json, os, signal, subprocess, sys, time
sys.path.insert(0, os.environ["ASSAY_PYTHON"])
os.environ["ASSAY_STEPS"] = "steps.csv"
import assay
def job(name="job.json"): return json.load(open(name))
for batch in assay.timed([[1, 2, 3]] * 3): pass
assert len(job()["windows"][0]["step_seconds"]) == 3 and job()["dataset"]["batch"] == 3, job()
assert job()["loader"]["workers"] == 0 and job()["processor_seconds"] >= 0 and "weather" in job(), job()
for number, batch in enumerate(assay.timed(iter([[1]] * 9), path="left.json")):
    for other in assay.timed([[1, 2]] * 2, phase="validation", path="left.json"): pass
    if number == 4: break
left = job("left.json")
assert len(left["windows"][0]["step_seconds"]) == len(left["phases"]["load"]["seconds"]) == 4, left
assert left["phases"]["validation"]["scope"] == "validation" and left["dataset"]["validation"] == 4, left
read = []
def batches():
    for i in range(20):
        read.append(i)
        yield [i]
assert len(list(assay.timed(list(batches()), replay=True))) == 20
assert len(list(assay.timed(list(batches()), replay=True))) == 20
assert len(list(assay.timed(batches(), path="replay.json", replay=True))) == 20 and len(read) == 60, read
assert max(job("replay.json")["phases"]["load"]["seconds"]) < 0.1, "reading what is repeated is no part of the loop"

# An epoch is what the loader yields: of a sampler, without the last batch, or as counted at the end.
class Loader:
    batch_size, num_workers = 10, 0
    def __init__(self, length, dataset, sampler=None, drop_last=False):
        self.length, self.dataset, self.sampler, self.drop_last = length, dataset, sampler, drop_last
    def __len__(self): return self.length
    def __iter__(self): return iter([[0] * 10] * self.length)
def samples(loader, path, **options):
    for batch in assay.timed(loader, path=path, **options): pass
    return job(path)["dataset"]
assert samples(Loader(50, range(1000)), "a.json")["train"] == 500, job("a.json")
assert samples(Loader(50, range(496)), "b.json")["train"] == 496, job("b.json")
assert samples(Loader(13, range(1000), sampler=range(125)), "c.json")["train"] == 125, job("c.json")
assert samples(Loader(50, range(506), drop_last=True), "d.json")["train"] == 506, job("d.json")
assert samples(Loader(5, range(56), drop_last=True), "d.json", phase="validation")["validation"] == 50, job("d.json")
assert samples(([1, 2, 3][i:] for i in range(2)), "e.json")["train"] == 5, job("e.json")
for number, batch in enumerate(assay.timed(([1] for _ in range(9)), path="e.json")):
    if number == 3: break
assert job("e.json")["dataset"]["train"] == 5, "an earlier loop ran to its end"
for batch in assay.timed(iter([[1]] * 9), path="f.json"): break
assert job("f.json")["dataset"] == {"batch": 1, "drop_last": False, "train": 9}, job("f.json")
assert job("f.json")["windows"] == [] and "weather" not in job("f.json"), job("f.json")

# Its own notes are no part of a step, and the oldest of very many steps go.
def slow_open(name, *rest, **options):
    if str(name).endswith(".part"): time.sleep(0.05)
    return open(name, *rest, **options)
assay.open = slow_open
for epoch in range(7):
    for batch in assay.timed([[0]] * 2000, path="notes.json"): pass
del assay.open
notes = job("notes.json")
assert sum(load > 0.05 for load in notes["phases"]["load"]["seconds"]) == 0, notes["phases"]["load"]["seconds"]
assert [len(window["step_seconds"]) for window in notes["windows"]] == [2000] * 6, notes["windows"]

# Processes end while they are looked at, and workers of a fork server are children of a child.
def vanished(name, *rest, **options):
    if name == f"/proc/{os.getppid()}/stat": raise FileNotFoundError(name)
    return open(name, *rest, **options)
assay.open = vanished
assay._clocks()
del assay.open
before = assay._clocks()
burns = "import sys, time\nwhile time.process_time() < 0.3: pass\nprint(); sys.stdout.flush(); time.sleep(60)"
grandchild = subprocess.Popen(["sh", "-c", '"$0" -c "$1"; true', sys.executable, burns], stdout=subprocess.PIPE,
                              start_new_session=True)
grandchild.stdout.readline()
own = assay._clocks()[2] - before[2]
os.killpg(grandchild.pid, signal.SIGKILL)
assert own >= 0.25, own

# A second process leaves the lines of the first alone.
second = subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import assay\n"
                         "for batch in assay.timed([[1]] * 3, path='second.json'): pass", os.environ["ASSAY_PYTHON"]],
                        stderr=subprocess.PIPE, text=True)
assert second.returncode == 0 and "written by another process" in second.stderr, second
assert os.path.exists("second.json")
lines = open("steps.csv").read().splitlines()
assert lines[0] == "step,step_s,load_s,samples,phase,process,train,workers" and lines[1].startswith("0,"), lines[:2]
assert {line.split(",")[4] for line in lines[1:]} == {"training", "validation"}, lines
assert {line.split(",")[5] for line in lines[1:]} == {str(os.getpid())}, lines
try:
    assay.timed([], phase="tests")
    sys.exit("timed() took a phase that is not known")
except assay.AssayError:
    pass
P
rm -rf "$timed"
echo "ci/plugin/test.sh: all passed"

#!/usr/bin/env python3
"""Usage: faults_test.py ASSAY [KILLS [SEED]]

Ends verbs by SIGKILL at KILLS drawn moments (default 200), runs two of a kind at once, and lets them write to a disk
that is full and to one that is read-only. Each file is the old one or a new one, whole; what could not be written is
said with its name; nothing runs on, and once a verb has come to its end nothing is left of those that did not.
"""
import csv
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

if not shutil.which("git") or not shutil.which("cmake"):
    print("skipped: git and cmake are needed")
    sys.exit(77)
if len(sys.argv) < 2:
    sys.exit(__doc__)
assay = pathlib.Path(sys.argv[1]).resolve()
kills = int(sys.argv[2]) if len(sys.argv) > 2 else 200
draw = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
work = pathlib.Path(tempfile.mkdtemp(prefix="faults "))
mark = f"ASSAY_FAULTS_TEST={uuid.uuid4()}"
scratch = work / "scratch"
scratch.mkdir()
environment = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI_", "ASSAY_"))}
environment |= {"TMPDIR": str(scratch), "XDG_CACHE_HOME": str(work / "cache"), "GIT_CEILING_DIRECTORIES": str(work)}
environment |= dict([mark.split("=")])
faults = []

suite = {"schema": 1, "name": "tiny", "about": "faults", "steps_per_epoch": 1,
         "cases": [{"op": "elementwise_relu", "n": 1, "c": 1, "h": 4, "w": 16}]}
job = {"schema": "assay.training/1", "name": "tiny", "channels": 1, "side": 8, "width": 2, "samples": 1030,
       "batch": 20, "workers": 1, "prefetch": 2}
loop = "i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); echo step 0.0$1; sleep 0.01; done"
of_suite = ["--suite", "tiny.json", "--threads", "1"]
# Words behind the program, the files that they write, and the exit codes of a run that nobody disturbs: whether a tuner
# or an epoch finds what it looks for is the machine's to decide.
verbs = {
    "run": (["run", *of_suite, "-o", "run.json"], ["run.json"], {0}),
    "record": (["record", *of_suite, "--launches", "1", "--reason", "again"], ["baselines/*/tiny.json"], {0}),
    "gate": (["gate", "--base", str(assay), *of_suite, "--identical", "--budget", "2", "-o", "gate.json", "--md",
              "gate.md", "--html", "gate.html"], ["gate.json", "gate.md", "gate.html"], {0, 1, 3}),
    "prepare": (["prepare", "--base", "HEAD~1", "--head", "HEAD", "-o", "bundle"], ["bundle/bundle.json"], {0}),
    "epoch": (["epoch", "--job", "job.json", "--frozen", "frozen.json", "--timeline", "time.json", "--log", "log.jsonl",
               "--md", "epoch.md"], ["frozen.json", "time.json", "log.jsonl", "epoch.md"], {0, 1}),
    "tune": (["tune", "command", "--vary", "n=1,2", "--match", "step ([0-9.]+)", "--budget", "14", "-o", "tune.json",
              "--md", "tune.md", "--", "sh", "-c", loop, "sh", "{n}"], ["tune.json", "tune.md"], {0, 3}),
    "report": (["report", "results.json", "--reports", "reports", "--html", "report.html"],
               ["report.html", "reports/*/tiny.md", "reports/*/tiny.json", "reports/*/tiny.csv"], {0}),
}


def demand(holds, what):
    if not holds:
        faults.append(what)
        print("FAULT:", what, flush=True)


def start(words, prefix=()):
    return subprocess.Popen([*prefix, assay, *words], cwd=work, env=environment, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def run(words, prefix=()):
    child = start(words, prefix)
    said, _ = child.communicate()
    return child.returncode, said


def running():
    """Processes that were begun by this test, whatever their session or parent is now."""
    out = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and mark.encode() in (process / "environ").read_bytes():
                if (process / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                    out.append(f"{process.name} {(process / 'cmdline').read_text().replace(chr(0), ' ')[:60]}")
        except OSError:
            continue
    return out


def nothing_runs(after):
    end = time.monotonic() + 20
    while (left := running()) and time.monotonic() < end:
        time.sleep(0.05)
    demand(not left, f"{after}: runs on: {left}")
    for one in left:
        os.kill(int(one.split()[0]), signal.SIGKILL)


def is_whole(file):
    text = file.read_text()
    if file.suffix == ".html":
        return text.rstrip().endswith("</html>")
    if file.suffix == ".md":
        return len(text) > 1 and text.endswith("\n")
    if file.suffix == ".csv":
        return len({len(row) for row in csv.reader(text.splitlines())}) == 1 and text.endswith("\n")
    try:
        for part in text.splitlines() if file.suffix == ".jsonl" else [text]:
            json.loads(part)
    except ValueError:
        return False
    return text.endswith("\n")


def whole_files(verb, after):
    for pattern in verbs[verb][1]:
        found = list(work.glob(pattern))
        demand(found, f"{after}: {pattern} is gone")
        for file in found:
            demand(is_whole(file), f"{after}: {file.relative_to(work)} is neither the old file nor a new one")


def runs(verb):
    code, said = run(verbs[verb][0])
    demand(code in verbs[verb][2], f"{verb}: exits {code}, undisturbed: {said[-600:]}")
    whole_files(verb, verb)
    return code


def recordings():
    return len(json.loads(next(work.glob("baselines/*/tiny.json")).read_text())["recordings"])


def make_project():
    (work / "tiny.json").write_text(json.dumps(suite))
    (work / "job.json").write_text(json.dumps(job))
    (work / "assay.json").write_text(json.dumps({"schema": "assay.project/1", "kind": "command", "target": "tool"}))
    (work / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.16)\nproject(theirs LANGUAGES CXX)\n"
                                         "add_executable(tool tool.cpp)\n")
    for edition in ("", "// edited\n"):
        (work / "tool.cpp").write_text(edition + "int main() {}\n")
        for words in (["init", "-q"], ["add", "CMakeLists.txt", "assay.json", "tool.cpp"],
                      ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "edition"]):
            subprocess.run(["git", *words], cwd=work, env=environment, check=True)
    code, said = run(["run", *of_suite, "-o", "results.json"])
    demand(code == 0, f"run: exits {code}: {said[-600:]}")


def kill_verbs():
    for verb, (words, _, _) in verbs.items():
        begun = time.monotonic()
        runs(verb)
        seconds = time.monotonic() - begun
        count = kills // len(verbs) + (list(verbs).index(verb) < kills % len(verbs))
        ended = 0
        for _ in range(count):
            child = start(words)
            moment = draw.uniform(0, 1.1 * seconds)
            try:
                child.communicate(timeout=moment)
                ended += 1
            except subprocess.TimeoutExpired:
                child.kill()
                # A child may hold the pipe a little longer.
                child.wait()
            after = f"{verb}, killed after {moment:.3f} s of {seconds:.1f}"
            nothing_runs(after)
            child.stdout.close()
            whole_files(verb, after)
        runs(verb)
        left = [str(file.relative_to(work)) for file in scratch.rglob("*") if not file.is_dir()]
        demand(not left, f"{verb}: leaves {left[:5]} in the folder for temporary files")
        print(f"{verb}: {count} kills within {seconds:.1f} s, {ended} came too late", flush=True)


def run_two_at_once():
    before = recordings()
    pair = [start(verbs["record"][0]) for _ in range(2)]
    said = [child.communicate()[0] for child in pair]
    added = sum(child.returncode == 0 for child in pair)
    for child, words in zip(pair, said):
        demand(child.returncode == 0 or "tiny.json" in words, f"record, twice at once: {words[-600:]}")
    whole_files("record", "record, twice at once")
    demand(recordings() == before + added, f"record, twice at once: {recordings() - before} of {added} were kept")
    print(f"record, twice at once: {added} recorded", flush=True)


def take_the_disk_away():
    disk = work / "disk"
    disk.mkdir()
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        print("full and read-only disks: not tried, since mounting is not allowed here")
        return
    for what, mount in (("full", "mount -t tmpfs -o size=8k,mode=755 disk '{0}' && printf '{{}}\\n' >'{0}/run.json'"),
                        ("read-only", "mount -t tmpfs disk '{0}' && printf '{{}}\\n' >'{0}/run.json' && "
                                      "mount -o remount,ro '{0}'")):
        look = f"{{ \"$@\"; code=$?; cat '{disk}/run.json' >&2; ls -A '{disk}' >&2; exit $code; }}"
        script = f"{mount.format(disk)} && {look}"
        code, said = run(["run", *of_suite, "-o", "disk/run.json"], ["unshare", "-m", "sh", "-c", script, "sh"])
        demand(code == 2 and "disk/run.json" in said and "cannot" in said and said.endswith("{}\nrun.json\n"),
               f"a {what} disk: exits {code}: {said[-600:]}")
        print(f"a {what} disk: exit {code}", flush=True)


try:
    make_project()
    kill_verbs()
    run_two_at_once()
    take_the_disk_away()
    nothing_runs("all of it")
finally:
    shutil.rmtree(work, ignore_errors=True)
sys.exit(1 if faults else 0)

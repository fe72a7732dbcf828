#!/usr/bin/env python3
"""Reads what CI engines are given, and demands what ci/SECURITY.md promises of it.

Every action is pinned, every script is one that sh takes, the job that runs code of a request can only read, and the
job that can write runs nothing of it: that one is run here, against a GitHub that only pretends.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)

CI = pathlib.Path(__file__).resolve().parent
faults = []


def demand(holds, what):
    if not holds:
        faults.append(what)


def read(path):
    # "on" is true to YAML 1.1, and not to GitHub.
    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return yaml.load((CI / path).read_text(), Loader)


def check_script(name, script, shell):
    demand("${{" not in script, f"{name}: a script has an expression, which could become a command: hand it over in env")
    commands = [["sh", "-n"]]
    if shutil.which("shellcheck"):
        commands.append(["shellcheck", "-s", shell, "-"])
    for command in commands:
        done = subprocess.run(command, input=script, capture_output=True, text=True)
        demand(done.returncode == 0, f"{name}: {command[0]} refuses a script:\n{done.stdout}{done.stderr}")


def check_pins(path):
    for line in (CI / path).read_text().splitlines():
        if "uses:" in line:
            pinned = re.search(r"uses: [\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)
            demand(pinned, f"{path}: is not pinned by a commit with its version beside it: {line.strip()}")


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def check_measuring():
    path = "github/measure.yml"
    workflow = read(path)
    check_pins(path)
    demand(workflow["on"] == "pull_request", f"{path}: is for more than pull_request, which has no secrets")
    demand(workflow["permissions"] == {"contents": "read"}, f"{path}: may do more than read")
    demand(not any("permissions" in job for job in workflow["jobs"].values()), f"{path}: a job may do more")
    demand("secrets" not in str(workflow) and "github.token" not in str(workflow), f"{path}: hands out a secret")
    checkout = [step["with"] for step in steps_of(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    demand(len(checkout) == 1 and checkout[0].get("persist-credentials") == "false"
           and checkout[0].get("fetch-depth") == 0,
           f"{path}: the checkout keeps the token, or not the history")
    install = " ".join(step.get("run", "") for step in steps_of(workflow))
    demand("sha256sum -c" in install and "./ci/assay" not in install, f"{path}: installs what no checksum names")
    for step in steps_of(workflow):
        if "run" in step:
            check_script(path, step["run"].replace("@source@", "."), "sh")
    return workflow


def check_commenting(measuring):
    path = "github/comment.yml"
    workflow = read(path)
    check_pins(path)
    demand(workflow["on"] == {"workflow_run": {"workflows": [measuring["name"]], "types": ["completed"]}},
           f"{path}: does not follow {measuring['name']}")
    demand(workflow["permissions"] == {"actions": "read", "pull-requests": "write"}, f"{path}: may do more than comment")
    demand(not any("uses" in step for step in steps_of(workflow)), f"{path}: uses an action")
    for step in steps_of(workflow):
        check_script(path, step["run"], "bash")
    (step,) = steps_of(workflow)
    return step["run"]


def check_nightly():
    path = "github/nightly.yml"
    workflow = read(path)
    check_pins(path)
    demand(workflow["permissions"] == {"contents": "read"}, f"{path}: may do more than read")
    (job,) = workflow["jobs"].values()
    shards = job["strategy"]["matrix"]["shard"]
    for step in steps_of(workflow):
        if "run" in step:
            check_script(path, step["run"], "sh")
            demand(f"--shard \"$SHARD/{len(shards)}\"" in step["run"] and shards == list(range(len(shards))),
                   f"{path}: its shards are not those of ci/test.sh --all")


def check_release():
    path = "github/release.yml"
    workflow = read(path)
    check_pins(path)
    demand(workflow["permissions"] == {"contents": "read"}, f"{path}: may do more than read by default")
    for name, job in workflow["jobs"].items():
        writes = [what for what, right in job.get("permissions", {}).items() if right == "write"]
        demand(writes == (["contents"] if name == "publish" else []), f"{path}: {name} may write {writes}")
        for step in job["steps"]:
            if "run" in step:
                check_script(path, step["run"], "bash")
                demand(name != "publish" or "docker" not in step["run"], f"{path}: runs what was built where it may write")
    made = {row["image"] for row in workflow["jobs"]["make"]["strategy"]["matrix"]["include"] if row["make"] == "deb"}
    checked = {row["image"] for row in workflow["jobs"]["check"]["strategy"]["matrix"]["include"]
               if row["package"].endswith(".deb")}
    demand(made == checked, f"{path}: packages for {made}, checks on {checked}")


def check_action():
    action = read("github/action.yml")
    check_pins("github/action.yml")
    for step in action["runs"]["steps"]:
        check_script("github/action.yml", step["run"], step["shell"])


def check_gitlab():
    (job,) = read("gitlab/assay.yml").values()
    check_script("gitlab/assay.yml", "\n".join(job["script"]), "sh")
    demand(job["variables"]["GIT_DEPTH"] == "0", "gitlab/assay.yml: cuts the history off")
    demand(job["allow_failure"] == {"exit_codes": [3]}, "gitlab/assay.yml: another exit code than 3 may fail")
    demand(job["artifacts"]["reports"]["junit"].startswith(job["artifacts"]["paths"][0]),
           "gitlab/assay.yml: the JUnit file is not where the reports are")


FAKE_GH = """#!/bin/sh
# Answers as the files beside it say, and keeps what is written.
here=${0%/*}
echo "$*" >>"$here/asked"
case $* in
  *'-X PATCH'* | *'-X POST'*)
    for word; do case $word in body=@*) cat "${word#body=@}" >"$here/written" ;; esac; done ;;
  *artifacts?name=*) cat "$here/artifacts" ;;
  */zip) cat "$here/report.zip" ;;
  */pulls/*) cat "$here/head" ;;
  */comments*) cat "$here/comments" ;;
  *) exit 1 ;;
esac
"""


def comment_of(script, number="12\n", comment="### fine\n", head="abc", artifacts="7 1000\n", there=""):
    """Runs the commenting job; returns its exit code, what it asked and what it wrote, if anything."""
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        gh = here / "gh"
        gh.write_text(FAKE_GH)
        gh.chmod(0o755)
        with zipfile.ZipFile(here / "report.zip", "w") as report:
            report.writestr("../../outside", "x")
            for name, text in (("pull_request", number), ("comment.md", comment)):
                if text is not None:
                    report.writestr(name, text)
        (here / "artifacts").write_text(artifacts)
        (here / "head").write_text(head + "\n")
        (here / "comments").write_text(there)
        done = subprocess.run(
            ["bash", "-e", "-c", script], capture_output=True, text=True,
            env={"PATH": f"{folder}:/usr/bin:/bin", "TMPDIR": folder, "GITHUB_REPOSITORY": "a/b", "RUN": "5",
                 "RUN_URL": "https://github.example/run/5", "MEASURED": "abc"})
        written = here / "written"
        return done.returncode, (here / "asked").read_text(), written.read_text() if written.exists() else None


def check_comments(script):
    code, asked, written = comment_of(script)
    demand(code == 0 and "-X POST repos/a/b/issues/12/comments" in asked, "comment.yml: makes no comment")
    demand(written is not None and written.startswith("<!-- assay gate -->\n") and "run/5" in written
           and written.endswith("### fine\n"), f"comment.yml: writes something else: {written}")
    code, asked, written = comment_of(script, there="99\n100\n")
    demand(code == 0 and "-X PATCH repos/a/b/issues/comments/99" in asked, "comment.yml: does not update its comment")

    code, asked, written = comment_of(script, comment="`gemm/simd@avx2` @team @@me x @you\n")
    unseen = "\u200b"
    demand(written is not None and f"`gemm/simd@avx2` @{unseen}team @{unseen}@{unseen}me x @{unseen}you" in written,
           f"comment.yml: calls somebody, or spoils a key: {written}")

    for what, refused, expected in (
            ("a head that was not measured", {"head": "abd"}, 0),
            ("a run without a report", {"artifacts": ""}, 0),
            ("a number that is none", {"number": "12/../13"}, 1),
            ("a number with a second line", {"number": "12\n13"}, 1),
            ("a number that is missing", {"number": None}, 1),
            ("a comment that is missing", {"comment": None}, 1),
            ("a comment that is too long", {"comment": "x" * 60001}, 1),
            ("a report that is too large", {"artifacts": "7 60000000\n"}, 1)):
        code, _, written = comment_of(script, **refused)
        demand(written is None, f"comment.yml: comments in spite of {what}")
        demand(code == expected, f"comment.yml: exits {code} for {what}, expected {expected}")
    code, _, written = comment_of(script, comment="x" * 60000)
    demand(code == 0 and written is not None, "comment.yml: refuses a comment of 60,000 bytes")


script = check_commenting(check_measuring())
check_nightly()
check_release()
check_action()
check_gitlab()
if shutil.which("bash") and shutil.which("unzip"):
    check_comments(script)
else:
    print("comment.yml is not run: there is no bash, or no unzip")
for fault in faults:
    print(f"workflows_test: {fault}", file=sys.stderr)
sys.exit(1 if faults else 0)

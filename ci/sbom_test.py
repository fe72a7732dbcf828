#!/usr/bin/env python3
"""Usage: sbom_test.py PACKAGE...   Holds PACKAGE.spdx.json against SPDX 2.3 and against the bytes of the package: each
library that its programs need, and each whose functions are in them, is named. Takes each of these away, and demands to be
told."""
import copy
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# Functions that a program has of a library, and the word by which packages of it are called.
MARKS = {"CLI::App::": "cli11", "nlohmann::": "nlohmann-json", "fmt::v": "fmt", "hwy::": "hwy|highway",
         "benchmark::": "benchmark", "hwloc_topology_init": "hwloc", "inflate": "zlib", "std::locale::": "libstdc"}
IDENTITY = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
TEXTS = {"spdxVersion": "SPDX-2[.]3", "dataLicense": "CC0-1[.]0", "SPDXID": "SPDXRef-DOCUMENT", "name": ".+",
         "documentNamespace": "https://[^#]+"}
PACKAGE_TEXTS = {"name": ".+", "SPDXID": IDENTITY.pattern, "versionInfo": ".+", "downloadLocation": "NOASSERTION",
                 "licenseConcluded": "NOASSERTION", "licenseDeclared": r"NOASSERTION|[\w.-]+( (AND|OR|WITH) [\w.-]+)*",
                 "copyrightText": "NOASSERTION"}
LINKS = {"DESCRIBES", "STATIC_LINK", "DYNAMIC_LINK", "CONTAINS", "BUILD_DEPENDENCY_OF"}


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def contents(package, folder):
    """Returns (sonames, words of libraries) that the programs in the package need and have."""
    if package.suffix == ".deb":
        said("dpkg-deb", "-x", package, folder)
    elif package.suffix == ".whl":
        said(sys.executable, "-m", "zipfile", "-e", package, folder)
    else:
        said("tar", "-xzf", package, "-C", folder)
    programs = [one for one in pathlib.Path(folder).rglob("*") if one.name in ("assay", "libassay.so") and one.is_file()
                and one.read_bytes()[:4] == b"\x7fELF"]
    if len(programs) != 2:
        sys.exit(f"{package}: has not two programs: {programs}")
    needed, words = set(), set()
    for program in programs:
        needed |= set(re.findall(r"NEEDED +(\S+)", said("objdump", "-p", program)))
        names = said("nm", "-C", "--defined-only", program)
        words |= {word for mark, word in MARKS.items() if re.search(f"^\\S+ [tTwWVu] {mark}", names, re.M)}
    return needed, words


def faults(document, package, needed, words):
    """Returns a line for each fault of form, and for each library that is not named."""
    out = [f"{key} is {document.get(key)}" for key, form in TEXTS.items() if not re.fullmatch(form, document.get(key, ""))]
    made = document.get("creationInfo", {})
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made.get("created", "")) or not made.get("creators"):
        out.append("creationInfo is not whole")
    parts = document["packages"]
    for part in parts:
        out += [f"{part.get('name')}: {key} is {part.get(key)}" for key, form in PACKAGE_TEXTS.items()
                if not re.fullmatch(form, part.get(key, ""))]
        if part.get("filesAnalyzed") is not False:
            out.append(f"{part.get('name')}: filesAnalyzed is not false")
    known = [part.get("SPDXID") for part in parts] + ["SPDXRef-DOCUMENT"]
    if len(set(known)) != len(known):
        out.append("an SPDXID stands twice")
    linked = set()
    for one in document["relationships"]:
        ends = {one["spdxElementId"], one["relatedSpdxElement"]}
        linked |= ends
        if one["relationshipType"] not in LINKS or not ends <= set(known):
            out.append(f"no relationship: {one}")
    out += [f"{one} has no relationship" for one in known if one not in linked]
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    if parts[0].get("checksums") != [{"algorithm": "SHA256", "checksumValue": digest}]:
        out.append("the checksum is of another package")
    named = {name for part in parts for name in part.get("sourceInfo", "").split(", ")}
    out += [f"names no package of {one}" for one in sorted(needed - named)]
    out += [f"names no package of {one}" for one in sorted(words)
            if not any(re.search(one, part["name"]) for part in parts[1:])]
    return out


def test(package):
    document = json.loads(pathlib.Path(f"{package}.spdx.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        needed, words = contents(package, folder)
    if found := faults(document, package, needed, words):
        sys.exit("\n".join(f"{package}.spdx.json: {one}" for one in found))
    if not needed or "fmt" not in words or "nlohmann-json" not in words:
        sys.exit(f"{package}: no libraries were found in its programs: {needed} {words}")
    for word in sorted(needed | words):
        less = copy.deepcopy(document)
        less["packages"] = less["packages"][:1] + [
            one for one in less["packages"][1:] if word not in one["sourceInfo"].split(", ")
            and (word in needed or not re.search(word, one["name"]))]
        if f"names no package of {word}" not in faults(less, package, needed, words):
            sys.exit(f"{package}: it is not noticed that {word} is missing")
    for key in list(TEXTS):
        less = {name: value for name, value in document.items() if name != key}
        if not faults(less, package, needed, words):
            sys.exit(f"{package}: it is not noticed that {key} is missing")
    print(f"{package.name}: {len(document['packages']) - 1} packages, {len(needed)} libraries needed, "
          f"{len(words)} found in it")


if len(sys.argv) < 2:
    sys.exit(__doc__)
for each in sys.argv[1:]:
    test(pathlib.Path(each))

#!/usr/bin/env python3
"""Usage: sbom.py PACKAGE BUILD [OLD]
Writes PACKAGE.spdx.json, an SPDX 2.3 document of each Debian package that the program and the library in BUILD are made
of: shared libraries that they need, archives with members in them, and headers that were compiled in. The linker says in
BUILD/*.map (-Wl,-Map=%.map) which files it took, ninja which headers, and dpkg whose they are. OLD is where
ci/release.sh has the libraries of an older Debian."""
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
from urllib.parse import quote

# Names of Debian's copyright files, and of SPDX where it has others.
LICENCES = {"Apache-2": "Apache-2.0", "Apache-2.0": "Apache-2.0", "BSD-2-clause": "BSD-2-Clause",
            "BSD-3-Clause": "BSD-3-Clause", "BSD-3-clause": "BSD-3-Clause", "Expat": "MIT", "MIT": "MIT",
            "GPL-2+": "GPL-2.0-or-later", "GPL-3+": "GPL-3.0-or-later", "LGPL-2.1+": "LGPL-2.1-or-later",
            "Zlib": "Zlib", "zlib": "Zlib"}


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def licence_of(copyright):
    """Returns the licence in the words of SPDX, and those of Debian where they have no such words."""
    text = copyright.read_text(errors="replace") if copyright.exists() else ""
    stanza = re.search(r"^Files: *\*$.*?^License: *([^\n]+)", text, re.M | re.S)
    if not stanza:
        return "NOASSERTION", "see /usr/share/doc/PACKAGE/copyright in Debian"
    words = re.split(r" +(and|or) +", stanza[1].strip())
    known = [word.upper() if word in ("and", "or") else LICENCES.get(word) for word in words]
    return (" ".join(known), "") if all(known) else ("NOASSERTION", f"Debian calls it {stanza[1].strip()}")


class Origins:
    """Finds the package that a file is from, as (name, version, path of its copyright)."""

    def __init__(self, old):
        self.old = old
        self.found = {}
        self.sources = {}
        self.debs = {}
        if not old:
            return
        for line in (old / "first/origins").read_text().splitlines():
            archive, folder = line.split()
            name = folder.split("-")[0]
            version = re.search(r"^Version: (.*)", next(old.glob(f"{name}_*.dsc")).read_text(), re.M)[1]
            self.sources[archive] = (name, version, old / folder / "debian/copyright")
        for deb in sorted(old.glob("*.deb")):
            name, version = (said("dpkg-deb", "-f", deb, field).strip() for field in ("Package", "Version"))
            for line in said("dpkg-deb", "-c", deb).splitlines():
                path = line.split(" ./", 1)[1].split(" -> ")[0]
                self.debs["/" + path] = (name, version, old / "root/usr/share/doc" / name / "copyright")

    def learn(self, paths):
        """Asks dpkg about all of them at once. It knows files of /usr/lib by the names that they had in /lib."""
        forms = {}
        for path in paths:
            real = os.path.realpath(path)
            forms.setdefault(real, set()).add(path)
            forms.setdefault(real.removeprefix("/usr"), set()).add(path)
        versions = dict(re.findall(r"(\S+) (\S+)", said("dpkg-query", "-W", "-f", "${Package} ${Version}\n")))
        answer = subprocess.run(["dpkg", "-S", *forms], capture_output=True, text=True).stdout
        for package, form in re.findall(r"^([^:,\s]+)(?::\w+)?: (.+)$", answer, re.M):
            for path in forms.get(form, ()):
                copyright = pathlib.Path("/usr/share/doc") / package / "copyright"
                self.found[path] = (package, versions[package], copyright)

    def of(self, path):
        real = pathlib.Path(os.path.realpath(path))
        if self.old and real.is_relative_to(self.old / "first"):
            own = self.sources.get(real.name)
            return own or next((deb for name, deb in self.debs.items() if name.endswith("/" + real.name)), None)
        if self.old and real.is_relative_to(self.old / "root"):
            return self.debs.get("/" + str(real.relative_to(self.old / "root")))
        return self.found.get(path)


def soname(path):
    """Returns the name by which programs need a shared library; nothing for other files."""
    head = subprocess.run(["objdump", "-p", path], capture_output=True, text=True).stdout
    name = re.search(r"SONAME +(\S+)", head)
    return name and name[1]


def links_of(program):
    """Returns (how, path) of each file that the linker put into the program or has it look for."""
    mapped = pathlib.Path(f"{program}.map").read_text(errors="replace")
    for archive in sorted(set(re.findall(r"(\S+\.a)\(", mapped))):
        yield "STATIC_LINK", archive
    by_name = {soname(path): path for path in set(re.findall(r"^LOAD (\S+\.so[.\d]*\w*)$", mapped, re.M))}
    for name in re.findall(r"NEEDED +(\S+)", said("objdump", "-p", program)):
        if name not in by_name:
            sys.exit(f"sbom.py: {program}.map does not say which file {name} is")
        yield "DYNAMIC_LINK", by_name[name]


def main(package, build, old=None):
    build = build.resolve()
    files = {}
    for program in (build / "assay", build / "libassay.so"):
        for how, path in links_of(program):
            path = os.path.normpath(build / path)
            if not path.startswith(f"{build}/"):  # archives of this project
                files.setdefault(path, set()).add(how)
    for header in set(re.findall(r"^ +(/usr/\S+)$", said("ninja", "-C", build, "-t", "deps"), re.M)):
        files.setdefault(header, set()).add("BUILD_DEPENDENCY_OF")
    origins = Origins(old and old.resolve())
    origins.learn(files)
    parts = {}
    for path, hows in files.items():
        origin = origins.of(path)
        if origin is None:
            sys.exit(f"sbom.py: {path} is of no package")
        links, names = parts.setdefault(origin, (set(), set()))
        links |= hows
        if hows != {"BUILD_DEPENDENCY_OF"}:
            names.add(soname(path) or os.path.basename(path))
        if old and "DYNAMIC_LINK" in hows and "/first/" in path:
            links.add("CONTAINS")

    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    version = re.search(r"^project\(assay VERSION ([\d.]+)", pathlib.Path("CMakeLists.txt").read_text(), re.M)[1]
    made = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    whole = {"name": "assay", "SPDXID": "SPDXRef-assay", "versionInfo": version, "packageFileName": package.name,
             "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
             "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
             "checksums": [{"algorithm": "SHA256", "checksumValue": digest}]}
    system = platform.freedesktop_os_release()["ID"]
    packages, relations = [whole], [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-assay")]
    for (name, its_version, copyright), (links, names) in sorted(parts.items()):
        identity = "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{its_version}")
        licence, comment = licence_of(copyright)
        packages.append({
            "name": name, "SPDXID": identity, "versionInfo": its_version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence,
            **({"licenseComments": comment.replace("PACKAGE", name)} if comment else {}), "copyrightText": "NOASSERTION",
            "sourceInfo": ", ".join(sorted(names)) or "headers, whose code is compiled in",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/{system}/{quote(name)}@{quote(its_version)}"}]})
        for link in sorted(links):
            ends = (identity, "SPDXRef-assay") if link == "BUILD_DEPENDENCY_OF" else ("SPDXRef-assay", identity)
            relations.append((ends[0], link, ends[1]))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": package.name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{package.name}-{digest[:32]}",
        "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": [f"Tool: assay-sbom-{version}"]},
        "packages": packages,
        "relationships": [{"spdxElementId": a, "relationshipType": how, "relatedSpdxElement": b}
                          for a, how, b in relations]}
    pathlib.Path(f"{package}.spdx.json").write_text(json.dumps(document, indent=1) + "\n")


if len(sys.argv) not in (3, 4):
    sys.exit(__doc__)
main(*map(pathlib.Path, sys.argv[1:]))

"""Finds the first version of the providers' packages that has a feature, and writes it into `since.json`.

`since.py PLACE [--all]`: each entry of `since.json` has an API, a feature, its package, and a pattern of the path and of the
text of a file of the package. Entries without a version are looked for, or all of them; a version of a package is
downloaded into the folder when the search needs it. A feature that a version has is also in the later ones."""

import gzip
import json
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

PLACE = pathlib.Path(sys.argv[1])
LIST = pathlib.Path(__file__).with_name("since.json")
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


def versions(package):
    """Returns the released versions of a package, the oldest first."""
    listed = subprocess.run([sys.executable, "-m", "pip", "index", "versions", package], capture_output=True, text=True,
                            check=True).stdout
    found = re.search("Available versions: (.*)", listed)
    return found[1].split(", ")[::-1]


def archive(package, version):
    folder = PLACE / f"{package}-{version}"
    if not folder.exists():
        subprocess.run([*PIP, "download", "--no-deps", "--dest", folder, f"{package}=={version}"], check=True,
                       stderr=subprocess.DEVNULL)
    return next(folder.iterdir())


def files(path):
    """Yields the paths of the files of an archive, and functions that read them."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            yield from ((name, lambda name=name: wheel.read(name)) for name in wheel.namelist())
    else:
        with tarfile.open(path) as sdist:
            for member in sdist.getmembers():
                yield member.name, lambda member=member: sdist.extractfile(member).read()


def has(entry, version):
    try:
        path = archive(entry["package"], version)
    except (subprocess.CalledProcessError, StopIteration):
        return False  # Early versions cannot be installed any longer.
    for name, read in files(path):
        if re.search(f"{entry['path']}(.gz)?$", name):
            content = gzip.decompress(read()) if name.endswith(".gz") else read()
            if re.search(entry["text"], content.decode(), re.DOTALL):
                return True
    return False


def first(entry):
    known = versions(entry["package"])
    low, high = 0, len(known) - 1
    if not has(entry, known[high]):
        sys.exit(f"{entry['api']}: {entry['feature']}: {entry['package']} {known[high]} does not have it")
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if has(entry, known[middle]) else (middle + 1, high)
    return known[low]


entries = json.loads(LIST.read_text())
for entry in entries:
    if "--all" in sys.argv or "since" not in entry:
        entry["since"] = first(entry)
        print(f"{entry['api']}: {entry['feature']}: {entry['package']} {entry['since']}", flush=True)
        LIST.write_text(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")

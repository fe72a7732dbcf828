#!/bin/sh
# Usage: ci/fuzz/seeds_test.sh   Every reader and every format of results has a seed, and seeds.py says where one has none.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd) work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/ci"
for folder in harness reference suites ci/starter; do ln -s "$root/$folder" "$work/$folder"; done
cp -R "$root/ci/fuzz" "$work/ci/fuzz"
cd "$work"
ci/fuzz/seeds.py seeds

# Demands that seeds.py fails now, and says so.
fails_with() {
  if ci/fuzz/seeds.py seeds 2>said; then echo "passes where it should say: $1" >&2; exit 1; fi
  grep -qxF "$1" said || { echo "does not say: $1" >&2; cat said >&2; exit 1; }
}
sed -i 's/^ *{"elf",/      {"nobody", read_command_line},\n&/' ci/fuzz/readers.cpp
mkdir seeds/nobody
echo found >seeds/nobody/earlier
fails_with 'the reader nobody has no seed'
cp "$root/ci/fuzz/readers.cpp" ci/fuzz/readers.cpp
rm ci/fuzz/corpus/foreign/go
fails_with 'the format go has no seed ci/fuzz/corpus/foreign/go'
cp "$root/ci/fuzz/corpus/foreign/go" ci/fuzz/corpus/foreign/go
mkdir ci/fuzz/corpus/gone
echo text >ci/fuzz/corpus/gone/one
fails_with 'gone has seeds and is no reader'

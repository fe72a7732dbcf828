#!/bin/sh
# Usage: test.sh BUILD
# Installs BUILD, as whatever built it left it, moves the installation, builds the consumer against it, and demands
# that its right kernel is accepted and its wrong one rejected by name.
set -eu
build=$(cd "$1" && pwd)
work=$build/consumer
consumer=$(cd "$(dirname "$0")" && pwd)
root=${consumer%/ci/consumer}

fail() { echo "consumer: $1" >&2; exit 1; }

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first place" >"$work/install.log"
mv "$work/first place" "$work/moved elsewhere"
prefix="$work/moved elsewhere"

# Folders below the root: the root itself may be as short as /p, which stands in many a path.
if grep -rlF -e "$root/harness/" -e "$root/reference/" -e "$root/kernels/" -e "$build/" -e "first place" \
    "$prefix"/lib*/cmake; then
  fail 'the package above names folders of its build'
fi
for include in harness/include reference/include; do
  for header in $(cd "$root/$include" && find . -name '*.h' -o -name '*.hpp'); do
    [ -f "$prefix/include/$header" ] || fail "$include/$header is not installed"
  done
done

cmake -S "$consumer" -B "$work/build" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" >"$work/configure.log" 2>&1 ||
  { cat "$work/configure.log"; fail 'does not configure'; }
cmake --build "$work/build" >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail 'does not build'; }
if grep 'code is unknown' "$work/build.log"; then fail 'the code of its kernels is unknown'; fi
grep -q dlsym "$work/build/hidden_code_table.cpp" || {
  cat "$work/build.log" "$work/build/hidden_code_objects.txt" "$work/build/hidden_code_table.cpp"
  fail 'the table of code does not say that looks_up_its_library calls dlsym'
}

expect() {  # PROGRAM EXIT_CODE: checks the operation that it brings a kernel for, keeps the output
  status=0
  "$work/build/$1" check gemm >"$work/$1.out" 2>&1 || status=$?
  [ "$status" -eq "$2" ] || { tail -n 20 "$work/$1.out"; fail "'$1 check gemm' exits $status, expected $2"; }
}
expect right 0
grep -q unrolled_by_two "$work/right.out" || fail "'right check gemm' does not name its variant"
expect wrong 1
tail -n 12 "$work/wrong.out" | grep -q without_tail || fail "the last lines of 'wrong check gemm' do not name without_tail"
expect hidden 1
tail -n 1 "$work/hidden.out" | grep -q 'WRONG: gemm/looks_up_its_library' ||
  fail "the last line of 'hidden check gemm' does not name looks_up_its_library"
grep -q 'calls dlsym, which hides' "$work/hidden.out" ||
  fail "'hidden check gemm' does not say that looks_up_its_library calls dlsym"
[ ! -x "$work/build/beside" ] || "$work/build/beside" list gemm | grep -q packed ||
  fail "'beside list gemm' does not name the variants of assay::kernels"

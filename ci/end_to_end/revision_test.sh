#!/bin/sh
# Usage: revision_test.sh PROGRAMS
# Makes a repository with a tiny project named assay and lets PROGRAMS (revision_programs.cpp) build revisions of it:
# what a revision stands for, several layouts, reuse, a broken commit, an interrupted build, two builds at once.
# CXX names the compiler that PROGRAMS was built with.
set -eu
programs=$1
command -v git >/dev/null || { echo 'revision_test: there is no git here' >&2; exit 77; }
work=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$work"' EXIT
export GIT_CEILING_DIRECTORIES="$work" # no repository that the temporary folder may lie in is meant
mkdir -p "$work/a repository/app" "$work/elsewhere"
repository="$work/a repository" cache="$work/cache"
cd "$repository"

fail() { echo "revision_test: $1" >&2; tail -n 30 "$work/out" >&2; exit 1; }
git() { command git -c user.name=a -c user.email=a@b -c commit.gpgsign=false -c init.defaultBranch=main "$@"; }
commit() { git add -A && git commit -q -m "$1"; }
# EXPECTED_EXIT ARGUMENT...: output and errors to $work/out
run() {
  expected=$1 status=0
  shift
  "$programs" "$@" >"$work/out" 2>&1 || status=$?
  [ "$status" -eq "$expected" ] || fail "'$*' exits $status, expected $expected"
}
says() { grep -q -e "$1" "$work/out" || fail "does not say '$1'"; }
links() { sed -n 's/^link //p' "$work/out"; }
no_remains() {
  [ "$(git worktree list | wc -l)" -eq 1 ] || fail "a worktree is left: $(git worktree list)"
  ! find "$1" -name '*.part' | grep . || fail 'an unfinished folder is left'
}

cat >CMakePresets.json <<'END'
{"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build",
 "cacheVariables": {"CMAKE_BUILD_TYPE": "Release"}}]}
END
echo '{"schema": "assay.project/1", "target": "assay", "preset": "release"}' >assay.json
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(assay LANGUAGES CXX)
file(GLOB kernels kernel_*.cpp)
add_library(kernels STATIC ${kernels})
# The last file must stay out, since nothing refers to it: it defines a second main.
add_library(harness STATIC text.cpp other_main.cpp)
add_executable(assay app/main.cpp)
target_link_libraries(assay PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,kernels> harness)
END
for name in a b c d e f g h i j k l; do echo "int $name(int x) { return x + 1; }" >kernel_$name.cpp; done
echo 'const char* text() { return "one"; }' >text.cpp
echo 'int main() { return 1; }' >other_main.cpp
cat >app/main.cpp <<'END'
#include <cstdio>
const char* text();
int main() { std::puts(text()); }
END
echo build >.gitignore
git init -q .
commit one
one=$(git rev-parse HEAD)
git branch side
sed -i s/one/two/ text.cpp
commit two
two=$(git rev-parse HEAD)

# Several layouts of a revision, named by the commit; the tree of the user is not touched.
echo 'not committed' >text.cpp
run 0 HEAD~1 app "$cache" 4
says "^name $(echo "$one" | cut -c 1-7) (HEAD~1)\$"
says "^commit $one\$"
says '^remark $'
[ "$(links | wc -l)" -eq 4 ] || fail 'does not give four links'
links | while read -r link; do
  [ "$("$link" list --json -)" = one ] || fail "$link is not built from the first commit"
  nm -n "$link" | sed -n 's/.* T //p' >"$work/order"
  cksum <"$work/order"
done >"$work/orders"
[ "$(sort -u "$work/orders" | wc -l)" -eq 4 ] || fail 'two links have the same order of functions'
[ "$(cat text.cpp)" = 'not committed' ] || fail 'the tree of the user was changed'
no_remains "$cache"
! find "$cache" -name '*.o' | grep . || fail 'objects are left'

# The same commit by another name, and fewer layouts: nothing is built. More: built anew.
links >"$work/before"
run 0 side . "$cache" 2
! grep -q '^said' "$work/out" || fail 'builds again what is there'
[ "$(links)" = "$(head -n 2 "$work/before")" ] || fail 'gives other links the second time'
run 0 "$one" . "$cache" 5
says "^name $(echo "$one" | cut -c 1-7)\$"
says '^said .*configure'
[ "$(links | wc -l)" -eq 5 ] || fail 'does not give five links'

# The merge base of a branch that has moved on since.
git checkout -q -- text.cpp
git checkout -q side
sed -i s/one/three/ text.cpp
commit three
git checkout -q main
run 0 side . "$cache" 5 merge-base=HEAD
says "^commit $one\$"
says '^name .* (merge base of side and HEAD)$'
run 0 side . "$cache" 1 merge-base=side~0 # that of a head which is not checked out
says "^commit $(git rev-parse side)\$"
says '^name .* (merge base of side and side~0)$'
run 2 side . "$cache" 1 merge-base=no-such-branch
says "'no-such-branch': is no program file"
run 0 side . "$cache" 1
[ "$("$(links)" list)" = three ] || fail 'the branch itself is not what was built'
says '^remark one layout only, since no more were asked for'
run 0 main . "$cache" 1
says "^commit $two\$"

# By default the cache lies in the repository, unseen by git.
run 0 side . '' 1
[ -z "$(git status --porcelain)" ] || fail "git sees the cache: $(git status --porcelain)"
[ -d .assay/revisions ] || fail 'the cache is not in the repository'

# There is no such revision.
run 2 no-such-branch . "$cache" 1
says "'no-such-branch': is no program file, and no revision of $repository"
run 2 --all . "$cache" 1
run 2 HEAD "$work/elsewhere" "$cache" 1
says 'elsewhere: is in no git repository'
run 2 text.cpp . "$cache" 1
says 'text.cpp: is a file, but no program'
git checkout -q --orphan apart
commit apart
git checkout -q main
run 2 apart . "$cache" 1 merge-base=HEAD
says 'no commit in common with HEAD'

# assay.json of the checkout decides, and its faults are named.
project() {  # KEYS: assay.json of the checkout; it is not committed
  echo "{\"schema\": \"assay.project/1\"$1}" >assay.json
}
project ', "target": "assay", "configure": ["-DCMAKE_BUILD_TYPE=Release", "-DUNUSED=1"]'
run 0 main . "$cache" 1 # without a preset
says '^said .*configure' # another configuration is another program
[ "$("$(links)" list)" = two ] || fail 'without a preset another program is built'
project ', "target": "no_such_target", "preset": "release"'
run 2 main . "$cache" 1
says 'cannot build'
says 'no_such_target'
project ', "target": "harness", "preset": "release"'
run 2 main . "$cache" 1
says 'its target harness makes no program harness'
project ', "target": "assay", "source": "app"'
run 2 main . "$cache" 1
says "has no CMakeLists.txt in 'app'"
project ', "target": "assay", "source": "../elsewhere"'
run 2 main . "$cache" 1
says "assay.json: source: '../elsewhere' leads out of the project"
project ', "targets": "assay"'
run 2 main . "$cache" 1
says 'targets'
rm assay.json
run 2 main . "$cache" 1
says 'assay.json: is missing, and this program was not built from here'
git checkout -q -- assay.json

# Submodules of the revision are there, from what the repository has of them.
git init -q "$work/text"
echo 'const char* text() { return "of a submodule"; }' >"$work/text/text.cpp"
command git -C "$work/text" add -A
command git -C "$work/text" -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q -m text
git checkout -q -b modules
git -c protocol.file.allow=always submodule add -q "$work/text" words
git rm -q text.cpp
sed -i 's/STATIC text.cpp/STATIC words\/text.cpp/' CMakeLists.txt
commit 'a submodule'
mv "$work/text" "$work/gone"
run 0 modules . "$cache" 2
[ "$("$(links | tail -n 1)" list)" = 'of a submodule' ] || fail 'the submodule is not what is built'
no_remains "$cache"
git submodule deinit -q --all -f
git checkout -q main

# A program file, here one that lies in a build folder, and one that does not.
cmake --preset release >"$work/configure.log"
cmake --build build --target assay >"$work/build.log"
run 0 build/assay . "$cache" 3
says '^name build/assay$'
says '^commit $'
[ "$(links | wc -l)" -eq 3 ] || fail 'the build folder gives other than three links'
cmp -s build/assay "$(links | head -n 1)" || fail 'the first link is not the program'
run 0 build/assay . "$cache" 3
! grep -q '^said' "$work/out" || fail 'links again what is there'
sed -i s/two/four/ text.cpp
cmake --build build --target assay >"$work/build.log"
run 0 build/assay . "$cache" 3
[ "$("$(links | tail -n 1)" list)" = four ] || fail 'links of an older program are used'
git checkout -q -- text.cpp
cmake --build build --target harness >"$work/build.log"
cp "$(links | head -n 1)" build/assay # another program than the objects make
echo >>build/assay
run 0 build/assay . "$cache" 3
says '^remark one layout only, since linking its objects again gives another program'
cp build/assay "$work/elsewhere/assay"
run 0 "$work/elsewhere/assay" . "$cache" 3
says '^remark one layout only, since there is no build.ninja beside'

# Some programs cannot be linked in another order: the link takes its files from a response file, the linker
# sorts for itself, or the program depends on the order.
one_layout_since() {  # REASON COMMIT_MESSAGE
  commit "$2"
  run 0 HEAD . "$cache" 3
  says "^remark one layout only, since $1"
  [ "$(links | wc -l)" -eq 1 ] || fail "gives several links in spite of $2"
  git reset -q --hard HEAD~1
}
sed -i 's/"Release"/"Release", "CMAKE_NINJA_FORCE_RESPONSE_FILE": "ON"/' CMakePresets.json
one_layout_since '.* response file' 'a response file'
cat >>CMakeLists.txt <<'END'
target_compile_options(kernels PRIVATE -ffunction-sections)
target_compile_options(harness PRIVATE -ffunction-sections)
target_link_options(assay PRIVATE -Wl,--sort-section=name)
END
one_layout_since 'another order of objects (seed 1) leaves its functions' 'a linker that sorts'
for name in b c d e f; do
  echo "#include <cstdio>
static const int said = std::puts(\"$name\");" >>kernel_$name.cpp
done
one_layout_since 'linked in another order (seed 1) it lists other operations' 'a program that depends on the order'

# A commit that does not build: the message has the revision, the compiler's words and the log.
echo 'int broken() { return no_such_name; }' >kernel_a.cpp
commit broken
run 2 HEAD . "$cache" 2
says 'revision .* (HEAD): cannot build'
says 'no_such_name'
log=$(sed -n 's/.*all of it: //p' "$work/out")
grep -q no_such_name "$log" || fail 'the log that is named does not hold the message'
no_remains "$cache"
run 2 HEAD . "$cache" 2 # again: nothing looks finished

# Interrupted while a command of the build runs, which is ended and leaves nothing.
cat >>CMakeLists.txt <<END
add_custom_target(endless COMMAND sh -c "[ ! -e '$work/armed' ] || { echo \$\$ >'$work/pid.part'; mv '$work/pid.part' '$work/pid'; sleep 1000; }" VERBATIM)
add_dependencies(assay endless)
END
git checkout -q HEAD~1 -- kernel_a.cpp
commit endless
touch "$work/armed"
run 130 HEAD . "$cache" 2 "stop-when=$work/pid"
[ ! -d "/proc/$(cat "$work/pid")" ] || fail 'a command of the build outlives it'
no_remains "$cache"

# Killed there: the command ends as well, and what is left is removed by the next build.
rm "$work/pid"
"$programs" HEAD . "$cache" 2 >"$work/out" 2>&1 &
killed=$!
until [ -e "$work/pid" ]; do sleep 0.1; done
kill -KILL $killed
wait $killed || :
while [ -d "/proc/$(cat "$work/pid")" ]; do sleep 0.1; done # for as long as ctest lets it

# Afterwards it builds, once, though two ask for it at the same time.
rm "$work/armed"
"$programs" HEAD . "$cache" 2 >"$work/other" 2>&1 &
run 0 HEAD . "$cache" 2
wait $! || fail "the other one of two builds fails: $(cat "$work/other")"
[ "$(cat "$work/out" "$work/other" | grep -c '^said .*: configure')" -eq 1 ] || fail 'two at once build twice'
[ "$(links)" = "$(sed -n 's/^link //p' "$work/other")" ] || fail 'two at once give different programs'
no_remains "$cache"

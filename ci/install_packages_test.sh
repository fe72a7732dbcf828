#!/bin/sh
# Runs install_packages.sh against package managers that only pretend, and demands what README promises of it.
set -eu
script=$(cd "$(dirname "$0")" && pwd)/install_packages.sh
fake="$(mktemp -d)/with space"
trap 'rm -rf "${fake%/*}"' EXIT
mkdir "$fake"

# Every query of a package answers yes unless the file `absent` has its name, which is the last argument.
cat >"$fake/dpkg-query" <<'END'
#!/bin/sh
for package; do :; done
! grep -qx "$package" "${0%/*}/absent" || exit 1
echo 'install ok installed'
END
cp "$fake/dpkg-query" "$fake/rpm"
cp "$fake/dpkg-query" "$fake/pacman-query"
cat >"$fake/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"${0%/*}/installer_calls"
END
cp "$fake/apt-get" "$fake/dnf"
cat >"$fake/pacman" <<'END'
#!/bin/sh
case $1 in -Q) exec "${0%/*}/pacman-query" "$@" ;; *) echo "$*" >>"${0%/*}/installer_calls" ;; esac
END
cat >"$fake/id" <<'END'
#!/bin/sh
cat "${0%/*}/user"
END
cat >"$fake/cmake" <<'END'
#!/bin/sh
cat "${0%/*}/cmake_version"
END
chmod +x "$fake"/*

fail() { echo "install_packages_test: $1: $(cat "$fake/out")" >&2; exit 1; }
run() {  # EXPECTED_EXIT
  : >"$fake/installer_calls"
  status=0
  PATH="$fake:$PATH" "$script" build test >"$fake/out" 2>&1 || status=$?
  [ "$status" -eq "$1" ] || fail "exits $status, expected $1"
}

echo 'cmake version 3.25.1' >"$fake/cmake_version"
: >"$fake/absent"
echo 1000 >"$fake/user"
run 0
! grep -q 'No packages are listed' "$fake/out" || exit 77
[ ! -s "$fake/out" ] || fail 'speaks when nothing is missing'
echo 0 >"$fake/user"
run 0
[ ! -s "$fake/installer_calls" ] || fail 'calls the installer when nothing is missing'

package=$(sed -n '/^[a-z]* build/s/.* //p' "${script%/*}/packages.txt" | sort -u)
echo "$package" >"$fake/absent"
echo 1000 >"$fake/user"
run 2
[ "$(wc -l <"$fake/out")" -eq 2 ] || fail 'a missing package is not told in two lines'
grep -q '^As root: .* [a-z]*openblas' "$fake/out" || fail 'does not name the missing package'
[ ! -s "$fake/installer_calls" ] || fail 'calls the installer without root'
echo 0 >"$fake/user"
run 0
grep -q openblas "$fake/installer_calls" || fail 'does not install the missing package'
[ "$(grep -c benchmark "$fake/installer_calls")" -eq 0 ] || fail 'installs what is there'

: >"$fake/absent"
for version in 3.24.9 3.9.0 2.8.12; do
  echo "cmake version $version" >"$fake/cmake_version"
  run 2
  [ "$(wc -l <"$fake/out")" -eq 1 ] || fail "an old cmake is not told in one line"
done
for version in 3.25.0 3.31.6 3.100.0 4.0.2; do
  echo "cmake version $version" >"$fake/cmake_version"
  run 0
done

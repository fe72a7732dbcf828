# For sourcing: says which stage begins, and about how long it takes at most.

# Core-seconds that a build from nothing takes on slow virtual cores, with AVX2 and 2.6 GHz; newer ones take two thirds.
first_build=500 release_build=950 tsan_build=310 dev_build=870 all_build=1800 edit_build=2000 release_test=4000

# stage WHAT [CORE_SECONDS]
stage() {
  if [ $# -eq 1 ]; then
    echo "== $1"
  else
    cores=$(nproc)
    echo "== $1, up to about $((($2 / cores + 59) / 60)) minutes on $cores cores"
  fi
}

# For sourcing: says which stage begins, and about how long it takes at most.

# Core-seconds that a build from nothing takes on a virtual core of 2.6 GHz, from its ninja log.
release_build=450 tsan_build=330 dev_build=1000

# stage WHAT [CORE_SECONDS]
stage() {
  if [ $# -eq 1 ]; then
    echo "== $1"
  else
    cores=$(nproc)
    echo "== $1, up to about $((($2 / cores + 59) / 60)) minutes on $cores cores"
  fi
}

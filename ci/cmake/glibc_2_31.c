// Names that code compiled on Debian 12 takes from a later C library than the portable program of ci/release.sh links.
#include <malloc.h>
#include <unistd.h>

char __libc_single_threaded = 0;  // threads may come at any time

unsigned arc4random(void) {
  unsigned out = 0;
  return getentropy(&out, sizeof out) == 0 ? out : 0;
}

// 0 where the library does not tell.
struct mallinfo2 mallinfo2(void) { return (struct mallinfo2){0}; }

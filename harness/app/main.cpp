// The program: what is linked in, driven by the command line. Users' programs link this main too.

#include "assay/error.hpp"
#include "assay/pipeline.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  try {
    return assay::run_command_line(argc, argv, assay::Registry::linked());
  } catch (const assay::Error& failure) {  // a registration that cannot stand
    std::fprintf(stderr, "assay: %s\n", failure.what());
    return assay::exit_code::unusable;
  }
}

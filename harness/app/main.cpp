// The program: what is linked in, driven by the command line. Users' programs link this main too.

#include "assay/pipeline.hpp"
#include "core/check/contained.hpp"
#include "core/files/this_program.hpp"

#include <string_view>

int main(int argc, char** argv) {
  // A check looks whether threads sleep when a call is over: a half of its time is waiting for pools that do
  // not.
  if (argc > 1 && std::string_view(argv[1]) == "check")
    assay::start_anew_with(assay::pools_that_rest(), argv);
  return assay::run_command_line(argc, argv, assay::Registry::linked);
}

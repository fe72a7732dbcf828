// The program: what is linked in, driven by the command line. Users' programs link this main too.

#include "assay/pipeline.hpp"

int main(int argc, char** argv) { return assay::run_command_line(argc, argv, assay::Registry::linked); }

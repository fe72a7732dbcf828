// Drives the making of programs for a gate from a script: prints what programs_of() returns, and what it
// said.
//
//   revision_programs WHAT REPOSITORY CACHE LAYOUTS [merge-base=REVISION] [built=PROGRAM] [stop-when=FILE]
//
// stop-when asks for a stop, as an interrupt would, once FILE exists. Exit codes are those of the program.

#include "assay/error.hpp"
#include "assay/outcome.hpp"
#include "assay/pipeline.hpp"
#include "bench/programs/revision.hpp"

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

int main(int argc, char** argv) {
  using namespace assay;
  if (argc < 5) return exit_code::unusable;
  constexpr std::string_view stop_when = "stop-when=", merge_base = "merge-base=", built = "built=";
  ProgramsRequest request{
      .what = argv[1], .repository = argv[2], .cache = argv[3], .layouts = std::stoi(argv[4])};
  std::filesystem::path stop_file;
  for (int i = 5; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with(merge_base)) request.common_with = word.substr(merge_base.size());
    if (word.starts_with(built)) request.built = word.substr(built.size());
    if (word.starts_with(stop_when)) stop_file = word.substr(stop_when.size());
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was said stays when this is ended
  const Hooks hooks{
      .progress = [](std::string_view what,
                     std::optional<double>) { std::printf("said %s\n", std::string(what).c_str()); },
      .stop = [&] { return !stop_file.empty() && std::filesystem::exists(stop_file); }};
  try {
    const Programs programs = programs_of(request, hooks);
    if (programs.links.empty()) return exit_code::interrupted;
    std::printf("name %s\ncommit %s\nremark %s\n", programs.name.c_str(), programs.commit.c_str(),
                programs.layout_remark.c_str());
    for (const auto& difference : programs.differences) std::printf("differs %s\n", difference.c_str());
    for (const auto& link : programs.links) std::printf("link %s\n", link.c_str());
    return exit_code::passed;
  } catch (const Error& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return exit_code::unusable;
  }
}

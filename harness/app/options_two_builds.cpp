#include "app/options_two_builds.hpp"

#include "app/options_checks.hpp"

#include <CLI/CLI.hpp>

namespace assay {

void add_two_builds_options(CLI::App& gate, Options& options) {
  // Without a base there is a baseline, and without a head this program: neither is what `--base ""` meant.
  gate.add_option("--base", options.base,
                  "another build, interleaved with this one: a program, or a git revision that is built")
      ->check(not_empty());
  gate.add_option("--head", options.head, "the build that is judged, if not this one")
      ->needs("--base")
      ->check(not_empty());
  gate.add_option("--budget", options.budget_seconds,
                  "seconds that two builds are measured for (default 300)")
      ->check(between(1.0, 86400.0));
  gate.add_flag("--merge-base", options.merge_base,
                "the last commit that the base has in common with the head, or with HEAD");
  gate.add_option("--layouts", options.layouts,
                  "differently ordered links of each side when one is a revision (default 8)")
      ->check(CLI::Range(1, 64));
  gate.add_flag("--identical", options.identical_too,
                "measure variants whose machine code is identical, too");
  gate.add_option("--md", options.markdown, "write a comment for a pull request here");
  // What one kind of gate would ignore without a word.
  for (const char* name : {"--budget", "--merge-base", "--layouts", "--identical", "--md"}) {
    gate.get_option(name)->needs("--base");
  }
  for (const char* name : {"--launches", "--record-missing", "--reports"}) {
    gate.get_option(name)->excludes("--base");
  }
}

}  // namespace assay

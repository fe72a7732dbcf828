#include "app/two_builds_ending.hpp"

#include "app/measuring.hpp"
#include "app/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace assay {
namespace {

std::size_t count(const GateRuling& ruling, Standing standing) { return ruling.comparison.count(standing); }

Ending ending_of(const TwoBuilds& run, const GateRuling& ruling, const Options& options) {
  const std::size_t measured = ruling.rulings.trials.size(), slower = count(ruling, Standing::slower),
                    wrong = count(ruling, Standing::wrong), undecided = count(ruling, Standing::undecided);
  const auto identical =
      static_cast<std::size_t>(std::ranges::count_if(run.trials, [](const PairedTrial& trial) {
        return trial.left_out == Standing::same && !trial.tested();
      }));
  if (run.partial) {
    return {exit_code::interrupted,
            fmt::format("INTERRUPTED after {:.0f} s: nothing is decided", run.seconds)};
  }
  if (wrong > 0) {
    return {exit_code::found, fmt::format("WRONG: {} trial{} of the head disagree{} with the oracle", wrong,
                                          wrong == 1 ? "" : "s", wrong == 1 ? "s" : "")};
  }
  if (!ruling.unfit.empty()) {
    return {exit_code::undecided,
            fmt::format("MACHINE UNFIT: {}; nothing here can be believed", ruling.unfit)};
  }
  if (slower > 0) {
    return {exit_code::found, fmt::format("REGRESSION: {} of {} trials {} slower than the base", slower,
                                          measured, slower == 1 ? "is" : "are")};
  }
  if (measured == 0 && identical > 0) {
    return {exit_code::passed,
            fmt::format("PASSED: all {} trials that both builds have are identical machine code", identical)};
  }
  if (measured == 0) {
    return {exit_code::undecided, "UNDECIDED: the two builds have no trial in common that runs here"};
  }
  if (undecided > 0 && options.undecided_fails) {
    return {exit_code::undecided, fmt::format("UNDECIDED: {} of {} trials", undecided, measured)};
  }
  return {exit_code::passed,
          fmt::format("PASSED: {} trials compared in {:.0f} s, none slower{}", measured, run.seconds,
                      undecided > 0 ? fmt::format(", {} undecided", undecided) : "")};
}

/// A regular expression that only this key matches.
std::string exactly(const std::string& key) {
  std::string out = "^";
  for (const char c : key) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
        std::string_view("/=,#_@ ").find(c) == std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out + "$";
}

std::string next_commands(const TwoBuilds& run, const GateRuling& ruling) {
  std::string out;
  for (const Verdict& verdict : ruling.comparison.verdicts) {
    if (verdict.standing != Standing::slower) continue;
    out += fmt::format("again: {} -k '{}'\n", run.command, exactly(verdict.key));
  }
  return out;
}

}  // namespace

int end_two_builds(const Options& options, const TwoBuilds& run) {
  const GateRuling ruling = ruling_of(run);
  if (!options.markdown.empty()) write_file(options.markdown, two_builds_markdown(run, ruling));
  const Ending ending = ending_of(run, ruling, options);
  put(options, two_builds_text(run, ruling) + next_commands(run, ruling) + ending.text + "\n",
      to_json(ruling.comparison));
  return ending.code;
}

}  // namespace assay

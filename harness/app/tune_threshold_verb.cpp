#include "app/output.hpp"
#include "app/progress.hpp"
#include "app/verb_functions.hpp"
#include "assay/pipeline.hpp"
#include "bench/tune/threshold_header.hpp"
#include "core/machine/build_info.hpp"
#include "core/machine/clock.hpp"

#include <fmt/format.h>

namespace assay {
namespace {

void search(ThresholdRecord& record) {
  Progress progress;
  ThresholdRounds rounds(record.question, record.policy, sample_in_new_process, progress.hooks());
  record.threshold = find_threshold(
      record.question.sizes, [&](Index size) { return rounds.ratio_at(size); },
      [&] { return rounds.ended(); });
  record.times = rounds.times();
  record.wrong = rounds.wrong();
}

/// Whether there is a threshold, none, or nothing that could be said.
Word word_of(const ThresholdRecord& record) {
  if (!record.wrong.empty()) return Word::wrong;
  switch (record.threshold.outcome) {
    case ThresholdOutcome::found:
    case ThresholdOutcome::everywhere:
    case ThresholdOutcome::nowhere:
    case ThresholdOutcome::reversed: return Word::done;
    case ThresholdOutcome::not_monotone:
    case ThresholdOutcome::undecided: return Word::undecided;
    case ThresholdOutcome::stopped: break;
  }
  return Word::interrupted;
}

/// An old header stays as it was when there is no constant: whoever includes it must not lose it by a noisy
/// day.
std::string header_line(const ThresholdRecord& record, const ThresholdOptions& tune) {
  if (tune.header.empty()) return "";
  const auto constant = record.threshold.constant();
  if (!constant) return fmt::format("{} was not written\n", tune.header.string());
  write_file(tune.header, header_text(record, tune.constant));
  return fmt::format("{} has {} = {}\n", tune.header.string(), tune.constant, *constant);
}

}  // namespace

Outcome tune_threshold_verb(const ThresholdOptions& tune, const Registry& registry) {
  if (!tune.header.empty()) require_identifier(tune.constant);
  const Machine machine = this_machine();
  ThresholdRecord record{.question = question_of(tune.request, registry, machine),
                         .date = utc_now(),
                         .commit = build_info().commit,
                         .command = command_of("tune threshold", tune),
                         .machine = machine,
                         .policy = {.rounds = tune.rounds, .seed = tune.seed}};
  if (record.question.sizes.empty()) {
    const RefusedSizes& first = record.question.refused.front();
    fmt::print("SKIPPED: {} does not run here: {}\n", first.by, first.why);
    return {Word::skipped};
  }
  const WeatherStation station;
  search(record);
  record.weather = station.since();
  const Word word = word_of(record);
  if (word == Word::interrupted) {
    fmt::print("INTERRUPTED after {} sizes: nothing is decided\n", record.threshold.sizes.size());
    return {word};
  }
  if (!tune.outputs.markdown.empty()) write_file(tune.outputs.markdown, threshold_markdown(record));
  if (!tune.outputs.output.empty()) write_file(tune.outputs.output, to_json(record) + "\n");
  const std::string header = header_line(record, tune);
  put(tune.outputs.json, header + threshold_text(record), to_json(record));
  return {word};
}

}  // namespace assay

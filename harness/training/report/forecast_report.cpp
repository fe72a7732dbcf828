// A forecast as a document.
#include "training/report/forecast_report.hpp"
#include "core/text/figures.hpp"
#include "training/epoch/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

constexpr const char* forecast_form = "assay.forecast/2";

doc::Text number(Index value) { return doc::count(static_cast<double>(value)); }

doc::Text yes_or_no(std::optional<bool> value) { return !value ? "" : *value ? "yes" : "no"; }

std::string loader_text(const Forecast& f) {
  const LoaderSetup& loader = f.job.loader;
  if (!loader.workers) return "workers not stated";
  if (*loader.workers == 0) return "no workers, each batch is loaded in its step";
  std::string out = fmt::format("{} workers, prefetch {}{}, {}", *loader.workers, loader.prefetch,
                                loader.prefetch_stated ? "" : " (PyTorch's default)",
                                loader.in_order ? "in order" : "out of order");
  if (f.queue.load_contention != 1 || f.queue.compute_contention != 1) {
    out += fmt::format("; contention {:.2f} of loading, {:.2f} of the rest, {}", f.queue.load_contention,
                       f.queue.compute_contention,
                       f.calibration.contention_assumed ? "fitted to the windows" : "as stated");
  }
  return out;
}

std::string steps_text(const Forecast& f) {
  const Dataset& d = f.job.dataset;
  std::string out = fmt::format("{} steps of {}", count_text(f.steps.full), count_text(d.batch));
  if (f.steps.partial_samples > 0) {
    out += fmt::format(" and one of {} samples", count_text(f.steps.partial_samples));
  } else if (d.train % d.batch != 0) {
    out += fmt::format(", the last {} samples dropped", count_text(d.train % d.batch));
  }
  return out;
}

std::string cache_text(PageCache cache) {
  return cache == PageCache::unknown ? "" : fmt::format(", {} cache", to_string(cache));
}

/// A dozen windows one by one are no help to anybody.
std::string windows_together(const std::vector<TimedWindow>& windows) {
  std::string out;
  for (const PageCache cache : {PageCache::warm, PageCache::cold, PageCache::unknown}) {
    std::vector<Index> steps;
    std::vector<double> means;
    for (const TimedWindow& window : windows) {
      if (window.cache != cache) continue;
      steps.push_back(window.steps);
      means.push_back(window.mean());
    }
    if (steps.empty()) continue;
    const auto [fewest, most] = std::ranges::minmax(steps);
    const auto [fastest, slowest] = std::ranges::minmax(means);
    out += fmt::format(
        "{}{} of {}, {} to {} each{}", out.empty() ? "" : "; ", quantity_text(std::ssize(steps), "window"),
        fewest == most ? quantity_text(most, "step") : fmt::format("{} to {} steps", fewest, most),
        seconds_text(fastest), seconds_text(slowest), cache_text(cache));
  }
  return out;
}

std::string windows_text(const Forecast& f) {
  constexpr std::size_t told_apart = 4;
  if (f.job.windows.size() > told_apart) return windows_together(f.job.windows);
  std::string out;
  for (const TimedWindow& window : f.job.windows) {
    if (!out.empty()) out += "; ";
    out += fmt::format("{} from step {} on, {} each{}", quantity_text(window.steps, "step"),
                       window.first_step, seconds_text(window.mean()), cache_text(window.cache));
  }
  return out.empty() ? "no window" : out;
}

doc::Table parts_table(const Forecast& f) {
  doc::Table out{.tag = "parts",
                 .columns = doc::columns("phase; kind; mean_seconds = per step [s]"),
                 .instead = "No phase was measured."};
  for (const StepPhase& part : f.calibration.parts)
    out.rows.push_back({part.name, to_string(part.kind), doc::seconds(part.mean_seconds)});
  for (const StepPhase& part : f.calibration.beside)
    out.rows.push_back({part.name, "beside the step", doc::seconds(part.mean_seconds)});
  return out;
}

doc::Table models_table(const Forecast& f) {
  doc::Table out{
      .tag = "models",
      .columns = doc::columns(
          "!model; !seconds = epoch, 90 % interval [s]; !period_seconds = per step [s]; -one_off_seconds; "
          "-partial_seconds; -impossible; -no_interval")};
  for (const ModelPrediction& one : f.models) {
    const bool possible = one.impossible.empty();
    auto& row = out.rows.emplace_back();
    row = {in_words(one.model), possible ? doc::fine_seconds(one.seconds) : doc::Text()};
    for (const double seconds : {one.period, one.one_off, one.partial})
      row.push_back(possible ? doc::seconds(seconds) : doc::Text());
    row.insert(row.end(), {one.impossible, one.no_interval});
  }
  return out;
}

/// Several models often lack the same thing: their names, then the reason.
doc::List model_remarks(const Forecast& f) {
  std::vector<std::pair<std::string, std::string>> remarks;  // names by remark
  const auto add = [&](const ModelPrediction& model, const std::string& remark) {
    if (remark.empty()) return;
    const auto same = std::ranges::find(remarks, remark, &std::pair<std::string, std::string>::first);
    if (same == remarks.end()) {
      remarks.emplace_back(remark, name_of(model.model));
    } else {
      same->second += fmt::format(", {}", name_of(model.model));
    }
  };
  for (const ModelPrediction& one : f.models) add(one, one.impossible);
  for (const ModelPrediction& one : f.models) {
    const bool is_range = one.seconds.low < one.seconds.high;
    if (!one.no_interval.empty())
      add(one, (is_range ? "not an interval of 90 %: " : "no interval: ") + one.no_interval);
  }
  doc::List out;
  for (const auto& [remark, names] : remarks) out.items.emplace_back(names + ": " + remark);
  return out;
}

/// A last batch that is smaller counts as its share: 520.50.
std::string times_text(double count) {
  const double whole = std::floor(count), share = std::floor(100 * (count - whole)) / 100;
  return count_text(whole) + (share > 0 ? fmt::format("{:.2f}", share).substr(1) : "");
}

doc::Table segments_table(const Forecast& f) {
  doc::Table out{
      .tag = "segments",
      .columns = doc::columns(
          "segment = beside the steps; !times; -count; !mean_seconds = each [s]; !seconds = all [s]")};
  for (const Segment& one : f.segments)
    out.rows.push_back({to_string(one.kind), times_text(one.count), doc::count(one.count),
                        doc::seconds(one.mean), doc::seconds(one.seconds)});
  return out;
}

/// Adds the table of changes, and below it each assumption once.
void add_changes(const Forecast& f, std::vector<doc::Block>& out) {
  doc::Table changes{
      .tag = "what_if",
      .columns = doc::columns("change = what if; !seconds = epoch [s]; !difference; -saved_seconds; -given")};
  std::vector<std::string> given;
  for (const WhatIf& one : f.what_if) {
    std::string name = one.change;
    if (!one.given.empty()) {
      auto at = std::ranges::find(given, one.given);
      if (at == given.end()) at = given.insert(given.end(), one.given);
      name += fmt::format(" ({})", at - given.begin() + 1);
    }
    const bool known = one.seconds.has_value(), same = known && std::abs(one.saved) < 0.0005 * *one.seconds;
    changes.rows.push_back(
        {name,
         known ? doc::Text(doc::seconds(Interval{one.least, *one.seconds, one.most}))
               : fmt::format("{} to {}", seconds_text(one.least), seconds_text(one.most)),
         !known ? ""
         : same ? "none"
                : fmt::format("{} {}", seconds_text(std::abs(one.saved)), one.saved > 0 ? "less" : "more"),
         known ? doc::Text(doc::seconds(one.saved)) : doc::Text(), one.given});
  }
  doc::List notes;
  for (std::size_t i = 0; i < given.size(); ++i)
    notes.items.emplace_back(fmt::format("({}) given that {}", i + 1, given[i]));
  out.insert(out.end(), {std::move(changes), std::move(notes)});
}

doc::Table scores_table(const Forecast& f) {
  doc::Table out{
      .tag = "scores",
      .columns = doc::columns("name = model or phase; !predicted_seconds = predicted [s]; !error_text = "
                              "error; inside = inside its interval; "
                              "measured_seconds = measured [s]; of; -error: Predicted by measured, less 1.")};
  for (const Score& score : f.scores) {
    for (const auto* list : {&score.models, &score.phases}) {
      for (const Scored& one : *list) {
        out.rows.push_back({one.name, doc::seconds(one.predicted), error_text(one.error),
                            yes_or_no(one.inside), doc::seconds(one.measured), score.measured,
                            doc::amount(one.error, "ratio")});
      }
    }
  }
  return out;
}

doc::List findings_of(const Forecast& f) {
  doc::List out{.tag = "findings"};
  for (const LintFinding& one : f.findings) out.items.emplace_back(in_words(one));
  if (out.items.empty()) out.items.emplace_back("No figure contradicts another.");
  return out;
}

doc::List doubts_of(const Forecast& f) {
  doc::List out{.tag = "doubts"};
  for (const Flag& flag : f.calibration.flags)
    out.items.emplace_back(doc::strong(std::string(to_string(flag.doubt))) + ": " + flag.text);
  return out;
}

doc::List drifts_of(const Forecast& f) {
  doc::List out;
  for (const Score& score : f.scores) {
    if (!score.drift.empty()) out.items.emplace_back(doc::strong("DRIFT") + " " + score.drift);
  }
  return out;
}

std::string missed_text(const KnownEpoch& known) {
  const Interval& predicted = known.predicted;
  const bool longer = known.seconds > predicted.high;
  const double end = longer ? predicted.high : predicted.low;
  return fmt::format(
      "MISSED: the epoch took {}, {} {} than the {} that was predicted, {}; other processes used {} of the "
      "processors meanwhile, and the host took {}",
      seconds_text(known.seconds), percent_text(longer ? known.seconds / end - 1 : 1 - known.seconds / end),
      longer ? "more" : "less", longer ? "most" : "least", fine_seconds_text(predicted),
      percent_text(known.weather.other_busy_share), percent_text(known.weather.steal_share));
}

/// The most elaborate model of the first later measurement that lay outside its interval; null for none.
const Score* missed_score(const Forecast& f) {
  const auto missed = [](const Score& one) {
    return !one.models.empty() && one.models.back().inside == false;
  };
  const auto at = std::ranges::find_if(f.scores, missed);
  return at == f.scores.end() ? nullptr : &*at;
}

/// Whether the interval of earlier epochs held this one; nothing without such an interval, or before the
/// epoch.
std::optional<bool> experience_held(const Forecast& f) {
  return f.known && f.experience.seconds.coverage > 0 ? holds(f.experience.seconds, f.known->seconds)
                                                      : std::nullopt;
}

/// Says what earlier epochs make of the interval; empty without any.
std::string experience_text(const Forecast& f) {
  const Experience& e = f.experience;
  if (e.epochs == 0) return "";
  const std::string before = quantity_text(static_cast<Index>(e.epochs), "epoch");
  if (e.seconds.coverage <= 0) {
    return fmt::format("{} in the log, which says nothing before there are {}", before, enough_epochs);
  }
  const auto held = experience_held(f);
  return fmt::format("by {} in the log, nine of ten such epochs lie in {}{}", before,
                     fine_seconds_text(e.seconds),
                     !held   ? ""
                     : *held ? "; this one did"
                             : "; this one did not");
}

/// Times of single steps, a window's warm-up apart.
doc::Picture steps_picture(const Forecast& f) {
  Index warm_up = 0;
  for (const Group& group : f.calibration.all) warm_up += group.steps;
  for (const Group& group : f.calibration.steady) warm_up -= group.steps;
  PlottedSamples steps{.name = "a step", .launches = {}};
  for (const TimedWindow& window : f.job.windows) {
    const std::vector<double>& all = window.step_seconds;
    const bool parted = f.job.windows.size() == 1 && warm_up > 0 && warm_up < std::ssize(all);
    const auto rest = all.begin() + (parted ? warm_up : 0);
    if (parted) steps.launches.emplace_back(all.begin(), rest);
    if (rest != all.end()) steps.launches.emplace_back(rest, all.end());
  }
  if (steps.launches.empty()) return {};
  std::string caption;
  for (const Flag& flag : f.calibration.flags) {
    if (flag.doubt == Doubt::drift || flag.doubt == Doubt::warm_up)
      caption += fmt::format("{}{}: {}", caption.empty() ? "" : "; ", to_string(flag.doubt), flag.text);
  }
  return {.name = "steps",
          .plot = strip_plot("Times of the steps that were measured, in their order", {std::move(steps)},
                             PlotScale::seconds, "steps in order; lines part warm-up and windows"),
          .caption = std::move(caption)};
}

/// Lanes of the loop and of each worker in some steps, by the means of their times.
doc::Picture lanes_picture(const Forecast& f) {
  constexpr Index most_lanes = 8;
  const Calibration& c = f.calibration;
  const Index workers = f.queue.workers, shown = std::min(workers, most_lanes), steps = 2 * shown + 2;
  if (c.load.empty() || c.rest.empty()) return {};
  const double load = mean_of(c.load) * (workers > 0 ? f.queue.load_contention : 1),
               rest = mean_of(c.rest) * (workers > 0 ? f.queue.compute_contention : 1);
  const double period = workers > 0 ? std::max(rest, load / static_cast<double>(workers)) : load + rest;
  const double cycle = period * static_cast<double>(workers), end = period * static_cast<double>(steps);
  std::vector<PlottedBar> bars{{"the loop", {}}};
  for (Index i = 0; i < steps; ++i) {
    const double begin = static_cast<double>(i) * period, loaded = begin + period - rest;
    const std::string_view waits = workers > 0 ? "waits" : "loads";
    bars.front().stretches.push_back(
        {i > 0 ? "" : fmt::format("{} {}", waits, seconds_text(period - rest)), begin, loaded, Look::open});
    bars.front().stretches.push_back(
        {i > 0 ? "" : "the rest of the step " + seconds_text(rest), loaded, begin + period, Look::first});
  }
  for (Index worker = 0; worker < shown; ++worker) {
    PlottedBar& bar = bars.emplace_back(PlottedBar{fmt::format("worker {}", worker + 1), {}});
    for (double begin = static_cast<double>(worker) * period; begin < end; begin += cycle) {
      bar.stretches.push_back({!bar.stretches.empty()
                                   ? ""
                                   : fmt::format("a batch {}, then waits {}", seconds_text(load),
                                                 seconds_text(std::max(0.0, cycle - load))),
                               begin, std::min(begin + load, end), Look::second});
    }
  }
  return {.name = "lanes",
          .plot = bars_plot("What the loop and its workers do in some steps", "seconds, by means", bars,
                            static_cast<std::size_t>(workers - shown))};
}

doc::Picture epoch_picture(const Forecast& f) {
  const ModelPrediction* best = most_elaborate(f.models);
  if (best == nullptr) return {};
  PlottedBar epoch{"epoch", {}};
  double at = 0;
  const auto add = [&](std::string_view name, double seconds, Look look) {
    epoch.stretches.push_back({fmt::format("{} {}", name, seconds_text(seconds)), at, at + seconds, look});
    at += seconds;
  };
  add("start-up", best->one_off, Look::third);
  add("steps", best->period * static_cast<double>(f.steps.full) + best->partial, Look::first);
  for (const Segment& one : f.segments) add(to_string(one.kind), one.seconds.middle, Look::second);
  return {.name = "epoch",
          .plot = bars_plot("The parts of an epoch", "seconds of an epoch", {std::move(epoch)})};
}

doc::Picture models_picture(const Forecast& f) {
  std::vector<PlottedInterval> rows;
  for (const ModelPrediction& one : f.models) {
    if (!one.impossible.empty()) continue;
    const std::string words = fmt::format("{}: {}", in_words(one.model), fine_seconds_text(one.seconds));
    rows.push_back({.name = words, .title = words, .value = one.seconds, .look = Look::first});
  }
  return {.name = "models",
          .plot = forest_plot("Epochs by model, with their intervals", "seconds of an epoch", rows,
                              PlotScale::seconds)};
}

/// Without an epoch there is nothing to tell of models and changes.
std::vector<doc::Section> sections_of(const Forecast& f) {
  const Job& job = f.job;
  const doc::Text on = job.hardware.empty() ? doc::Text(".") : ", on " + job.hardware + ".";
  std::vector<doc::Section> out{
      {.blocks = {"From " + doc::code(job.source) + on + " " + windows_text(f) + ".",
                  doc::list_of(job.notes, "notes")}},
      {.title = "Consistency", .blocks = {findings_of(f)}},
      {.title = "Doubts", .blocks = {doubts_of(f)}},
      {.title = "A step",
       .blocks = {parts_table(f), doc::Text("Loader: " + loader_text(f) + "."),
                  doc::Text("Limited by " + f.limited_by + "."), steps_picture(f), lanes_picture(f)}}};
  if (f.no_epoch.empty()) {
    const Calibration& c = f.calibration;
    std::string epoch = "Epoch: " + steps_text(f);
    if (c.one_off_known) epoch += fmt::format("; start-up {}, {}", seconds_text(c.one_off), c.one_off_from);
    const std::string experience = experience_text(f);
    out.push_back({.title = "Models",
                   .blocks = {epoch_picture(f), models_picture(f), doc::Text(epoch + "."), models_table(f),
                              model_remarks(f), segments_table(f),
                              doc::Text(experience.empty() ? "" : "Experience: " + experience + ".")}});
    add_changes(f, out.emplace_back(doc::Section{.title = "What if"}).blocks);
    out.push_back({.title = "Left out", .blocks = {doc::list_of(f.left_out, "left_out")}});
  }
  out.push_back({.title = "Predicted and measured", .blocks = {drifts_of(f), scores_table(f)}});
  return out;
}

std::vector<doc::Document::Fact> facts_of(const Forecast& f, const std::string& made) {
  const Calibration& c = f.calibration;
  const LoaderSetup& loader = f.job.loader;
  std::vector<doc::Document::Fact> out{
      {"made", made},
      {"job", f.job.name},
      {"hardware", f.job.hardware},
      {"from", f.job.source},
      {"limited_by", f.limited_by},
      {"no_epoch", f.no_epoch},
      {"workers", loader.workers ? number(*loader.workers) : doc::Text()},
      {"prefetch", number(f.queue.prefetch)},
      {"in_order", yes_or_no(f.queue.in_order)},
      {"load_contention", doc::amount(f.queue.load_contention, "ratio")},
      {"compute_contention", doc::amount(f.queue.compute_contention, "ratio")},
      {"contention_assumed", yes_or_no(c.contention_assumed)},
      {"full_steps", number(f.steps.full)},
      {"partial_samples", number(f.steps.partial_samples)},
      {"one_off_seconds", c.one_off_known ? doc::seconds(c.one_off) : doc::Text()}};
  if (f.experience.epochs > 0) {
    out.push_back({"experience_epochs", number(static_cast<Index>(f.experience.epochs))});
    out.push_back({"experience_seconds", doc::seconds(f.experience.seconds)});
    out.push_back({"experience_inside", yes_or_no(experience_held(f))});
  }
  if (f.known) {
    out.push_back({"epoch_seconds", doc::seconds(f.known->seconds)});
    out.push_back({"epoch_predicted", doc::seconds(f.known->predicted)});
    out.push_back({"epoch_inside", yes_or_no(f.known->inside())});
    out.push_back({"other_busy_share", doc::share(f.known->weather.other_busy_share)});
    out.push_back({"steal_share", doc::share(f.known->weather.steal_share)});
  }
  return out;
}

}  // namespace

Word word_of(const Forecast& f) {
  if (f.known ? f.known->missed() : missed_score(f) != nullptr) return Word::missed;
  if (!f.no_epoch.empty()) return Word::no_epoch;
  const auto seconds = predicted_epoch(f);
  if (!seconds) return Word::no_prediction;
  return !f.known && seconds->high > widest_prediction * seconds->low ? Word::undecided : Word::predicted;
}

std::string outcome_text(const Forecast& f) {
  const Word word = word_of(f);
  if (word == Word::no_epoch) return fmt::format("NO EPOCH: {}", f.no_epoch);
  if (word == Word::no_prediction) return "NO PREDICTION: no model has what it needs";
  if (word == Word::missed) {
    if (f.known) return missed_text(*f.known);
    const Score& score = *missed_score(f);
    return fmt::format("MISSED: {} took {}, outside the interval of {}, which is {}", score.measured,
                       seconds_text(score.seconds), score.models.back().name,
                       error_text(score.models.back().error));
  }
  const ModelPrediction* best = most_elaborate(f.models);
  const std::string doubts = f.calibration.flagged(Doubt::drift) ? ", while the steps were drifting" : "";
  std::string out = fmt::format("{}: {} per epoch by {}{}", to_string(word),
                                fine_seconds_text(*predicted_epoch(f)), name_of(best->model), doubts);
  if (word == Word::undecided) {
    out += fmt::format("; its ends differ by more than a factor of {}{}", widest_prediction,
                       f.enough > 0 ? fmt::format(": time the first {} steps", count_text(f.enough)) : "");
  }
  if (f.known) out += fmt::format("; it took {}", seconds_text(f.known->seconds));
  return out;
}

doc::Document document_of(const Forecast& f, const std::string& made) {
  return {.schema = forecast_form,
          .title = "Epoch of " + f.job.name,
          .facts = facts_of(f, made),
          .outcome = outcome_text(f),
          .sections = sections_of(f)};
}

Json forecast_schema() {
  return doc::schema_of(
      {.schema = forecast_form,
       .facts = {"made", "job", "hardware", "from", "limited_by", "no_epoch", "workers", "prefetch",
                 "in_order", "load_contention", "compute_contention", "contention_assumed", "full_steps",
                 "partial_samples", "one_off_seconds"},
       .optional_facts = {"experience_epochs", "experience_seconds", "experience_inside", "epoch_seconds",
                          "epoch_predicted", "epoch_inside", "other_busy_share", "steal_share"},
       .lists = {"notes", "findings", "doubts"},
       .optional_lists = {"left_out"},
       .tables = {"parts", "scores"},
       .optional_tables = {"models", "segments", "what_if"}});
}

std::string to_text(const Forecast& f, const std::string& before_the_outcome) {
  doc::Document out = document_of(f);
  const std::string outcome = doc::to_text({std::exchange(out.outcome, {})});
  return doc::to_text(out) + before_the_outcome + outcome;
}
std::string to_markdown(const Forecast& f) { return doc::to_markdown(document_of(f)); }
std::string to_json(const Forecast& f, const std::string& made) { return doc::to_json(document_of(f, made)); }

}  // namespace assay

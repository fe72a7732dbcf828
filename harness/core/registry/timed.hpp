// Kernels that are ready to be timed: each call with another input, and judged afterwards.
#pragma once

#include "core/registry/content.hpp"
#include "core/registry/parts.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace assay::detail {

/// A problem with its input, and what is known of it.
struct Subject {
  const ErasedContract& contract;
  Owned problem;
  Setting setting;  ///< its random numbers go on from where those of the input ended
  Setting before;   ///< the same before the input was made
  Owned input;
  Content content;  ///< of the input

  Subject(const ErasedContract& its_contract, Owned its_problem, Setting its_setting);
  /// As Content::written_part(). The input is made again, in the same memory, where one was written to.
  std::string_view written_part(Content::Look look);
  Owned fresh_output() const;
  Agreement judge(const void* expected, const void* output) const;
  /// Judges those units of an output, or all of it when there are none, by an expectation of its own. Of all
  /// of it, it has the figures as well.
  Agreement judge_in(const void* output, std::vector<Index> units, std::uint64_t seed) const;
};

/// Returns the units in the order of Setting::units, each once.
std::vector<Index> increasing(std::vector<Index> units);

class ErasedTimed final : public Timed {
 public:
  /// Prepares the variant on other content than it will be called with, but for constant and steady parts.
  ErasedTimed(const ErasedVariant& variant, const Context& context, Subject& subject, void* output);

  void arm(std::uint64_t seed) override;
  void renew(std::uint64_t seed, Renewal what) override;
  bool nudge(bool change) override { return subject_.content.nudge(change); }
  void repeat(Index calls) override;
  bool waits_for_device() const override { return kernel_->waits_for_device(); }
  double bytes() const override;
  std::optional<double> own_seconds() override { return kernel_->own_seconds(); }
  double prepare_seconds() const override { return prepare_seconds_; }
  Index helpers() const override { return helpers_; }
  bool updates_in_place() const override;
  Agreement judge(std::uint64_t seed) override;
  std::vector<Figure> figures_of_first_content() override;
  Agreement settle(bool due) override;

  /// Figures of an output that is right.
  void note_figures(std::span<const Figure> figures);
  /// One call, of which nobody is told.
  void call_unwatched() { kernel_->repeat(output_, 1); }
  /// As Workload::renewals_that_show().
  double renewals_that_show(std::uint64_t seed, int tries);

 private:
  std::vector<BufferView> outputs() const { return subject_.contract.outputs(output_); }
  /// Calls visit(start, the part of the output that it starts).
  void each_start(const std::function<void(const BufferView&, const BufferView&)>& visit) const;
  void copy_start() const;
  void overwrite(const BufferView& part, bool in_units, Rng& rng) const;
  std::vector<Index> draw_units(std::uint64_t seed) const;
  /// Calls visit(bytes of the input, of the output, how many) for everything updated in place that was noted.
  void each_noted(const std::function<void(std::byte*, const std::byte*, std::size_t)>& visit) const;
  void exchange_state();
  /// Notes that the output is far worse than others that it was compared with.
  void compare_figures(Agreement& outcome);

  Subject& subject_;
  void* output_;
  std::unique_ptr<ReadyKernel> kernel_;
  double prepare_seconds_ = 0;
  Index helpers_ = 0;
  std::vector<Index> units_;         ///< of a state that calls update: those that are noted; empty: all
  std::vector<std::byte> state_;     ///< the next call starts from it
  std::optional<double> least_gap_;  ///< the largest of an output, in the best of them
  int far_worse_ = 0;                ///< outputs
};

}  // namespace assay::detail

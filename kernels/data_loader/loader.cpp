#include "data_loader/loader.hpp"

#include "data_loader/pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace assay {
namespace {

using Problem = DataLoader::Problem;
using Input = DataLoader::Input;

/// The records of the first pass, for later passes. A pass meets each sample once, so no two workers write to
/// one place.
class Held {
 public:
  explicit Held(const Problem& p)
      : bytes_(static_cast<std::size_t>(p.bytes)),
        records_(static_cast<std::size_t>(p.samples * p.bytes)),
        known_(static_cast<std::size_t>(p.samples)) {}

  bool knows(std::span<const Index> samples) const {
    return std::ranges::all_of(samples, [&](Index i) { return known_[static_cast<std::size_t>(i)] != 0; });
  }
  void keep(std::span<const Index> samples, const std::byte* rows) {
    for (const Index i : samples) {
      std::memcpy(at(i), rows, bytes_);
      known_[static_cast<std::size_t>(i)] = 1;
      rows += bytes_;
    }
  }
  void copy(std::span<const Index> samples, std::byte* rows) {
    for (const Index i : samples) {
      std::memcpy(rows, at(i), bytes_);
      rows += bytes_;
    }
  }

 private:
  std::byte* at(Index i) { return records_.data() + static_cast<std::size_t>(i) * bytes_; }

  std::size_t bytes_;
  std::vector<std::byte> records_;
  std::vector<unsigned char> known_;  ///< not bool: workers write neighbours at the same time
};

class Loader {
 public:
  Loader(const Problem& p, const Input& input, Reading reading)
      : p_(p),
        reading_(reading),
        pipeline_({.batches = p.shape().batches(),
                   .workers = p.workers,
                   .prefetch = p.prefetch,
                   .slot_bytes = p.batch * p.bytes,
                   .in_order = p.in_order(),
                   .persistent = p.persistent()}) {
    if (p.holds_memory()) held_.emplace(p);
    if (reading == Reading::ahead && p.state() == FileState::cold) {
      own_.emplace(input.records.file.again(RecordFile::Pages::at_random));
      requests_.assign(static_cast<std::size_t>(pipeline_.slots()), PageRequests(p.batch));
    }
  }

  void run(const Input& in, DataLoader::Output& out) {
    Consumer consumer(p_, in, out);
    const RecordFile& file = own_ ? *own_ : in.records.file;
    pipeline_.run(
        [&](Index k, Index slot, std::byte* rows) { load(in.batch(p_.shape(), k), file, slot, rows); },
        [&](Index k, const std::byte* rows) { consumer.take(k, rows); });
    in.records.end_call(file);
  }

 private:
  void load(std::span<const Index> samples, const RecordFile& file, Index slot, std::byte* rows) {
    if (held_ && held_->knows(samples)) return held_->copy(samples, rows);
    if (reading_ == Reading::ahead && !own_) {
      copy_ahead(file, samples, rows);
    } else {
      if (own_) requests_[static_cast<std::size_t>(slot)].ask(file, samples);
      file.copy(samples, rows);
    }
    // Before anyone sees the batch, and from the thread that knows first.
    file.require_unchanged();
    if (held_) held_->keep(samples, rows);
  }

  Problem p_;
  Reading reading_;
  std::optional<Held> held_;
  std::optional<RecordFile> own_;
  std::vector<PageRequests> requests_;  ///< one per slot
  Pipeline pipeline_;                   ///< last member: its threads end before their data
};

}  // namespace

void add_loader(Registry& r, std::string_view name, std::string_view summary, Reading reading) {
  r.add<DataLoader>({.name = name,
                     .summary = summary,
                     .helpers = [](const Problem& p) { return p.workers; },
                     .prepare =
                         [reading](const Problem& p, const Input& input, const Context&) {
                           return [loader = std::make_shared<Loader>(p, input, reading)](
                                      const Input& in, DataLoader::Output& out) { loader->run(in, out); };
                         },
                     .unfit = without_such_file});
}

}  // namespace assay

#include "training/job/memory_events.hpp"

#include "assay/error.hpp"
#include "training/job/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace assay {
namespace {

constexpr double too_many_bytes = 0x1p62;

/// The fields that are read of an event.
struct MemoryChange {
  double time = 0, bytes = 0, address = 0;
  std::optional<double> allocated, reserved;
  Index number = 0;  ///< of its kind in the file, for messages
};

/// Follows the events of one allocator.
class Allocator {
 public:
  void take(const MemoryChange& change, const std::string& where) {
    const double bytes = change.bytes, address = change.address;
    const Index step = ++steps_;
    note_most(out_.most_allocated, change.allocated, where);
    note_most(out_.most_reserved, change.reserved, where);
    if (bytes > 0) {
      const auto [given, is_new] = live_.try_emplace(address, out_.lives.size());
      if (!is_new) {
        throw Error(where, fmt::format("gives address {:.0f} a second time, without a free between", address),
                    "record the trace again: events of it are lost");
      }
      count(bytes, where);
      out_.lives.push_back({.bytes = static_cast<Index>(bytes), .start = step});
    } else if (const auto found = live_.find(address); found != live_.end()) {
      BlockLife& block = out_.lives[found->second];
      if (static_cast<double>(block.bytes) != -bytes) {
        throw Error(where,
                    fmt::format("frees {:.0f} bytes at address {:.0f}, where {} were given", -bytes, address,
                                block.bytes),
                    "record the trace again: events of it are lost");
      }
      block.end = step;
      live_.erase(found);
    } else if (bytes < 0) {
      count(-bytes, where);
      out_.lives.push_back({.bytes = static_cast<Index>(-bytes), .start = 0, .end = step});
      ++out_.from_before;
    }
  }

  MemoryEvents finished(std::string device) {
    out_.device = std::move(device);
    out_.never_freed = static_cast<Index>(live_.size());
    for (const auto& [address, block] : live_) out_.lives[block].end = steps_ + 1;
    std::vector<std::pair<Index, Index>> changes;  // frees before grants of the same step
    for (const BlockLife& block : out_.lives) {
      changes.emplace_back(block.start, block.bytes);
      changes.emplace_back(block.end, -block.bytes);
    }
    std::ranges::sort(changes);
    Index live = 0;
    for (const auto& [step, bytes] : changes) {
      live += bytes;
      out_.most_live = std::max(out_.most_live, live);
    }
    return std::move(out_);
  }

 private:
  void count(double bytes, const std::string& where) {
    total_ += bytes;
    if (total_ >= too_many_bytes)
      throw Error(where, "sizes up to here sum to 2^62 bytes and more", "check the trace");
  }

  static void note_most(Index& most, std::optional<double> value, const std::string& where) {
    if (!value) return;
    if (!(*value < too_many_bytes))
      throw Error(where, fmt::format("counts {:g} bytes", *value), "check the trace");
    most = std::max(most, static_cast<Index>(*value));
  }

  MemoryEvents out_;
  std::map<double, std::size_t> live_;  ///< blocks by address
  Index steps_ = 0;
  double total_ = 0;
};

std::string device_name(std::pair<double, double> device) {
  return device.first == 0 ? "the processor" : fmt::format("accelerator {:.0f}", device.second);
}

}  // namespace

MemoryEvents read_memory_events(const std::filesystem::path& file) {
  std::map<std::pair<double, double>, std::vector<MemoryChange>> devices;
  Index events = 0;
  const auto place = [&](Index number) {
    return fmt::format("{}: event {} of [memory]", file.string(), number);
  };
  read_trace(file, [&](const TraceEvent& event) {
    if (event.name != "[memory]") return;
    const std::string where = place(++events);
    const auto bytes = event.number("Bytes"), address = event.number("Addr");
    if (!bytes) throw Error(where, "has no number \"Bytes\" in \"args\"", "check the trace");
    if (!address) {
      throw Error(where, "has no number \"Addr\" in \"args\", by which frees are told apart",
                  "record it with PyTorch 1.10 or later");
    }
    if (*bytes != std::floor(*bytes) || !(std::abs(*bytes) < too_many_bytes)) {
      throw Error(where, fmt::format("\"Bytes\" is {:g}, must be a whole number below 2^62", *bytes),
                  "check the trace");
    }
    devices[{event.number("Device Type").value_or(0), event.number("Device Id").value_or(-1)}].push_back(
        {.time = event.begin.value_or(0),
         .bytes = *bytes,
         .address = *address,
         .allocated = event.number("Total Allocated"),
         .reserved = event.number("Total Reserved"),
         .number = events});
  });
  if (devices.empty()) {
    throw Error(file.string(), "holds no event [memory]", "record it with profile(profile_memory=True)");
  }
  MemoryEvents out;
  std::vector<std::string> others;
  for (auto& [device, changes] : devices) {
    // Traces may list one thread after the other, and a block that one thread gives another may free.
    std::ranges::stable_sort(changes, {}, &MemoryChange::time);
    Allocator allocator;
    for (const MemoryChange& change : changes) allocator.take(change, place(change.number));
    MemoryEvents next = allocator.finished(device_name(device));
    if (out.device.empty() || next.most_live > out.most_live) std::swap(out, next);
    if (!next.device.empty()) others.push_back(next.device);
  }
  out.others = std::move(others);
  if (out.lives.empty())
    throw Error(file.string(), "gives no block of any bytes", "record a step that needs memory");
  return out;
}

std::string requests_csv(const MemoryEvents& events) {
  std::string out = "id,lower,upper,size\n";
  Index id = 0;
  for (const BlockLife& block : events.lives)
    out += fmt::format("{},{},{},{}\n", id++, block.start, block.end, block.bytes);
  return out;
}

}  // namespace assay

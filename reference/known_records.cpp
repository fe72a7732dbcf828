#include "assay/ops/known_records.hpp"

#include <algorithm>
#include <cstring>

namespace assay {

void generate_record(std::uint64_t key, Index i, std::span<std::byte> into) {
  std::uint64_t counter = key + static_cast<std::uint64_t>(i) * 0xd1342543de82ef95U;
  while (!into.empty()) {
    counter += 0x9e3779b97f4a7c15U;
    std::uint64_t z = counter;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    const std::size_t count = std::min(into.size(), sizeof z);
    std::memcpy(into.data(), &z, count);
    into = into.subspan(count);
  }
}

KnownRecords KnownRecords::open(RecordShape shape, FileState state, Setting& setting) {
  if (!setting.file.empty()) {
    KnownRecords own(RecordFile(setting.file), state, 0, true);
    // Through a mapping of its own, so that no page of the one that is timed is there before its first call.
    own.file.again(RecordFile::Pages::on_demand).verify();
    return own;
  }
  const std::uint64_t key = setting.rng.next();
  const auto size = static_cast<std::size_t>(shape.bytes);
  const auto where = state == FileState::cold ? RecordFile::Scratch::disk : RecordFile::Scratch::memory;
  KnownRecords out(RecordFile::scratch(where, shape,
                                       [&](Index first, std::span<std::byte> block) {
                                         for (; !block.empty(); block = block.subspan(size), ++first) {
                                           generate_record(key, first, block.first(size));
                                         }
                                       }),
                   state, key, false);
  if (state == FileState::cold) {
    out.file.drop_pages();
  } else {
    out.file.map_pages();
  }
  return out;
}

void KnownRecords::expected(Index i, std::span<std::byte> into) const {
  if (from_user_) {
    file.read(i, into);
  } else {
    generate_record(key_, i, into);
  }
}

std::string KnownRecords::fault_of_pages() const {
  if (state == FileState::hot) return "";
  // What was read ahead may arrive when its pages were dropped.
  constexpr Index small = 1 << 18;
  constexpr double little = 0.125;
  if (file.mapping().size() < small || file.mapping().resident() <= little) return "";
  return "calls left pages of the file in memory, which is cold before each of them: see end_call()";
}

void KnownRecords::end_call(const RecordFile& used) const {
  used.require_unchanged();
  if (state == FileState::cold) used.drop_pages();
}

std::optional<std::string> no_such_file_state(FileState state) {
  if (state == FileState::hot || scratch_disk_is_a_disk()) return std::nullopt;
  return "nothing can be cold here: $TMPDIR lies in memory; set it to a folder on a disk";
}

}  // namespace assay

#include "core/code/differing_functions.hpp"

#include "core/code/program_image.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace assay {
namespace {

std::string written(std::string_view mangled) {
  const std::string name(mangled);
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), std::free);
  return text != nullptr ? text.get() : name;
}

/// One function in both programs.
class Comparison {
 public:
  Comparison(const ProgramImage& before, const LinkedFunction& a, const ProgramImage& after,
             const LinkedFunction& b)
      : before_(before), after_(after), a_(a), b_(b) {}

  std::uint64_t changed_bytes() const {
    const std::size_t size = a_.bytes.size();
    if (size != b_.bytes.size()) return std::max(size, b_.bytes.size()) - std::min(size, b_.bytes.size());
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < size;) {
      if (a_.bytes[i] == b_.bytes[i]) {
        if (leads_elsewhere(i)) changed += distance_size;
        ++i;
      } else if (const std::size_t end = end_of_equal_distance(i); end > i) {
        i = end;
      } else {
        ++changed;
        ++i;
      }
    }
    return changed;
  }

 private:
  static constexpr std::size_t distance_size = 4;

  static std::uint64_t target(const LinkedFunction& f, std::size_t at, std::size_t beyond) {
    std::int32_t distance = 0;
    std::memcpy(&distance, f.bytes.data() + at, sizeof(distance));
    return f.address + at + distance_size + beyond + static_cast<std::uint64_t>(std::int64_t{distance});
  }

  /// Returns the end of the distance that holds byte `i` and leads to the same in both programs; 0 when there
  /// is none. A distance counts from the end of its instruction, which may have an operand of 1, 2 or 4 bytes
  /// more.
  std::size_t end_of_equal_distance(std::size_t i) const {
    for (std::size_t at = i - std::min(i, distance_size - 1); at <= i; ++at) {
      if (at + distance_size > a_.bytes.size()) break;
      for (const std::size_t beyond : {0U, 1U, 2U, 4U}) {
        const std::size_t size = constant_size(at);
        const std::string there = before_.meaning(target(a_, at, beyond), size);
        if (!there.empty() && there == after_.meaning(target(b_, at, beyond), size)) {
          return at + distance_size;
        }
      }
    }
    return 0;
  }

  /// Whether at `at` stands a distance that is equal in both programs and leads to different things: of a
  /// call, E8, or of an operand whose ModRM byte is 00 xxx 101 (Intel 64 manual, volume 2, table 2-2).
  bool leads_elsewhere(std::size_t at) const {
    if (at == 0 || at + distance_size > a_.bytes.size()) return false;
    if (a_.bytes.substr(at - 1, distance_size + 1) != b_.bytes.substr(at - 1, distance_size + 1))
      return false;
    const unsigned before = static_cast<unsigned char>(a_.bytes[at - 1]);
    const std::uint64_t from = target(a_, at, 0), to = target(b_, at, 0);
    const bool operand = (before & 0xc7U) == 0x05U && before_.is_nameless(from) && after_.is_nameless(to);
    if (before != 0xe8U && !operand) return false;
    const std::size_t size = constant_size(at);
    return before_.meaning(from, size) != after_.meaning(to, size);
  }

  /// Bytes that the instruction reads whose address is at `at`: a text where LEA (8D) takes the address; four
  /// of a scalar float (prefix F3, in VEX pp = 2), of one that is spread over a vector (VBROADCASTSS and
  /// VPBROADCASTD, 18 and 58; of other instructions a bit of EVEX says so, and another that it has eight);
  /// else at least eight.
  std::size_t constant_size(std::size_t at) const {
    const auto byte = [&](std::size_t back) {
      return at >= back ? static_cast<unsigned char>(a_.bytes[at - back]) : 0U;
    };
    if (byte(2) == 0x8d) return ProgramImage::text;
    const bool vex = byte(4) == 0xc5 || byte(5) == 0xc4, evex = byte(6) == 0x62;
    const bool scalar =
        ((byte(4) == 0xf3 || byte(5) == 0xf3) && byte(3) == 0x0f) || (vex && (byte(3) & 3U) == 2);
    const bool spread = ((byte(2) == 0x18 || byte(2) == 0x58) && (vex || evex)) ||
                        (evex && (byte(3) & 0x10U) != 0 && (byte(4) & 0x80U) == 0);
    return scalar || spread ? 4 : 8;
  }

  const ProgramImage& before_;
  const ProgramImage& after_;
  const LinkedFunction& a_;
  const LinkedFunction& b_;
};

/// Functions of one name: several when files share their names, as kernels' do.
struct Namesakes {
  std::vector<const LinkedFunction*> before, after;
};

/// Pairs those that are equal, and the rest in the order of their addresses.
void compare(const ProgramImage& before, const ProgramImage& after, Namesakes& all,
             std::vector<DifferingFunction>& out) {
  const auto changed = [&](const LinkedFunction* a, const LinkedFunction* b) {
    return Comparison(before, *a, after, *b).changed_bytes();
  };
  std::erase_if(all.before, [&](const LinkedFunction* a) {
    const auto same = std::ranges::find_if(all.after, [&](const LinkedFunction* b) {
      return a->bytes.size() == b->bytes.size() && changed(a, b) == 0;
    });
    if (same == all.after.end()) return false;
    all.after.erase(same);
    return true;
  });
  for (std::size_t i = 0; i < std::max(all.before.size(), all.after.size()); ++i) {
    const LinkedFunction* a = i < all.before.size() ? all.before[i] : nullptr;
    const LinkedFunction* b = i < all.after.size() ? all.after[i] : nullptr;
    out.push_back({.name = written(a != nullptr ? a->name : b->name),
                   .size_before = a != nullptr ? a->bytes.size() : 0,
                   .size_after = b != nullptr ? b->bytes.size() : 0});
    out.back().changed =
        a != nullptr && b != nullptr ? changed(a, b) : out.back().size_before + out.back().size_after;
  }
}

}  // namespace

FunctionDifferences differing_functions(const std::filesystem::path& before,
                                        const std::filesystem::path& after,
                                        const std::filesystem::path& source) {
  std::vector<ProgramImage> images;
  for (const std::filesystem::path& path : {before, after}) {
    ElfOutcome outcome = read_elf(path);
    if (!outcome.unreadable.empty()) return {{}, fmt::format("{} {}", path.string(), outcome.unreadable)};
    images.emplace_back(std::move(outcome.file));
    if (images.back().functions().empty()) {
      return {{}, path.string() + " names no functions: it was stripped"};
    }
  }
  std::map<std::pair<std::string_view, std::string_view>, Namesakes> names;
  const std::string file = source.filename().string();
  for (std::size_t i = 0; i < 2; ++i) {
    for (const LinkedFunction& function : images[i].functions()) {
      if (!file.empty() && function.file != file) continue;
      Namesakes& all = names[{function.file, function.name}];
      (i == 0 ? all.before : all.after).push_back(&function);
    }
  }
  if (names.empty()) return {{}, "neither program has local functions of a file named " + file};

  FunctionDifferences out;
  for (auto& [name, all] : names) compare(images[0], images[1], all, out.functions);
  std::ranges::stable_sort(out.functions, std::ranges::greater(), &DifferingFunction::changed);
  return out;
}

}  // namespace assay

#include "core/code/differing_functions.hpp"

#include "core/code/calls.hpp"
#include "core/code/instruction.hpp"
#include "core/code/program_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// The address that the distance of an instruction of a function leads to.
std::uint64_t target(const LinkedFunction& function, std::size_t at, const Instruction& instruction) {
  std::int32_t distance = 0;
  std::memcpy(&distance, function.bytes.data() + at + instruction.distance, sizeof(distance));
  return function.address + at + instruction.length + static_cast<std::uint64_t>(std::int64_t{distance});
}

/// Addresses that the code of a function refers to.
std::vector<std::uint64_t> references(const LinkedFunction& function) {
  std::vector<std::uint64_t> out;
  for (std::size_t at = 0; at < function.bytes.size();) {
    const Instruction one = decoded(function.bytes.substr(at));
    if (one.length == 0) break;
    if (one.distance_size == sizeof(std::int32_t)) out.push_back(target(function, at, one));
    at += one.length;
  }
  return out;
}

using Registrations = std::map<std::string, std::vector<const LinkedFunction*>, std::less<>>;

/// Functions that register variants, by source: code of theirs, or a table that it refers to, holds the name.
Registrations registrations(const ProgramImage& image, const std::vector<std::string>& sources) {
  Registrations out;
  for (const std::string& source : sources) out[source];
  const auto note = [&](std::uint64_t address, const LinkedFunction& function) {
    const std::string_view text = image.text_at(address);
    auto found = out.find(text);
    if (found == out.end() && text.find("./") != std::string_view::npos && text.size() < 4096) {
      found = out.find(std::filesystem::path(text).lexically_normal().string());
    }
    if (found == out.end() || (!found->second.empty() && found->second.back() == &function)) return;
    found->second.push_back(&function);
  };
  for (const LinkedFunction& function : image.functions()) {
    if (function.file.empty()) continue;
    for (const std::uint64_t address : references(function)) {
      note(address, function);
      for (const std::uint64_t there : image.pointers_at(address)) note(there, function);
    }
  }
  return out;
}

/// Functions at which the harness begins. Their callees are not part of a variant.
bool is_border(std::string_view name) {
  return name.starts_with("_ZN5assay8Regist") || name.find("14TypedOperation") != std::string_view::npos;
}

/// All functions that can be reached from these, themselves included.
std::set<const LinkedFunction*> reached(const ProgramImage& image, std::vector<const LinkedFunction*> next) {
  std::set<const LinkedFunction*> out(next.begin(), next.end());
  std::set<std::uint64_t> seen;
  while (!next.empty()) {
    std::vector<std::uint64_t> addresses = references(*next.back());
    next.pop_back();
    while (!addresses.empty()) {
      const std::uint64_t address = addresses.back();
      addresses.pop_back();
      if (!seen.insert(address).second) continue;
      const LinkedFunction* function = image.function_at(address);
      if (function == nullptr) {
        std::ranges::copy(image.pointers_at(address), std::back_inserter(addresses));
      } else if (!is_border(function->name) && out.insert(function).second) {
        next.push_back(function);
      }
    }
  }
  return out;
}

/// Compares a function of both programs.
class Comparison {
 public:
  Comparison(const ProgramImage& before, const LinkedFunction& a, const ProgramImage& after,
             const LinkedFunction& b)
      : before_(before), after_(after), a_(a), b_(b) {}

  /// Compares instruction by instruction. A distance that leads to the same place is no change.
  std::uint64_t changed_bytes() const {
    const std::size_t size = a_.bytes.size();
    if (size != b_.bytes.size()) return std::max(size, b_.bytes.size()) - std::min(size, b_.bytes.size());
    std::uint64_t changed = 0;
    for (std::size_t at = 0; at < size;) {
      const Instruction a = decoded(a_.bytes.substr(at)), b = decoded(b_.bytes.substr(at));
      const bool alike = a.length > 0 && a.length == b.length && a.distance == b.distance &&
                         a.distance_size == b.distance_size;
      // Once instructions differ in length or are unknown, the rest is compared byte by byte.
      if (!alike) return changed + differing(at, size);
      if (a.distance_size == sizeof(std::int32_t)) {
        const std::size_t from = at + a.distance, to = from + a.distance_size;
        changed += differing(at, from) + differing(to, at + a.length);
        if (!leads_to_the_same(at, a)) changed += std::max<std::uint64_t>(1, differing(from, to));
      } else {
        changed += differing(at, at + a.length);
      }
      at += a.length;
    }
    return changed;
  }

 private:
  std::uint64_t differing(std::size_t from, std::size_t to) const {
    std::uint64_t out = 0;
    for (std::size_t i = from; i < to; ++i) out += a_.bytes[i] != b_.bytes[i] ? 1U : 0U;
    return out;
  }

  bool leads_to_the_same(std::size_t at, const Instruction& instruction) const {
    const std::uint64_t from = target(a_, at, instruction), to = target(b_, at, instruction);
    const std::uint64_t in_a = from - a_.address, in_b = to - b_.address;
    if (in_a < a_.bytes.size() || in_b < b_.bytes.size()) return in_a == in_b;
    const std::size_t size = constant_size(at, instruction);
    if (size == ProgramImage::text && before_.is_nameless(from) && after_.is_nameless(to)) {
      const std::vector<std::uint64_t> jumps = before_.jump_table(from, a_);
      if (!jumps.empty()) return starts_alike(jumps, after_.jump_table(to, b_));
    }
    const std::string meaning = before_.meaning(from, size);
    if (!meaning.empty()) return without_clone(meaning) == without_clone(after_.meaning(to, size));
    return from - a_.address == to - b_.address && after_.meaning(to, size).empty();
  }

  /// Another table may follow directly, so only the common beginning is compared.
  static bool starts_alike(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
    const std::size_t common = std::min(a.size(), b.size());
    return common > 0 && std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common), b.begin());
  }

  /// Clones that compilers make of one function are numbered through a file: `f.constprop.1`.
  static std::string without_clone(const std::string& meaning) {
    std::string out;
    for (std::size_t i = 0; i < meaning.size(); ++i) {
      if (meaning[i] == '.' && i + 1 < meaning.size() && meaning[i + 1] >= '0' && meaning[i + 1] <= '9' &&
          i > 0 && meaning[i - 1] >= 'a' && meaning[i - 1] <= 'z') {
        while (i + 1 < meaning.size() && meaning[i + 1] >= '0' && meaning[i + 1] <= '9') ++i;
        continue;
      }
      out += meaning[i];
    }
    return out;
  }

  /// Returns how many bytes the instruction reads: a text where LEA (8D) takes the address; four for a scalar
  /// float (prefix F3, in VEX pp = 2) and for a float that is broadcast (VBROADCASTSS and VPBROADCASTD, 18
  /// and 58; in other instructions a bit of EVEX says so, and another bit that it has eight bytes); else at
  /// least eight.
  std::size_t constant_size(std::size_t start, const Instruction& instruction) const {
    const std::size_t at = start + instruction.distance;
    const auto byte = [&](std::size_t back) {
      return at >= start + back ? static_cast<unsigned char>(a_.bytes[at - back]) : 0U;
    };
    if (instruction.branches) return 8;
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

/// Pairs equal functions first, then the rest in the order of their addresses.
void compare(const ProgramImage& before, const ProgramImage& after, Namesakes& all,
             const std::map<const LinkedFunction*, std::string>& sources,
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
    out.push_back({.name = demangled(a != nullptr ? a->name : b->name),
                   .source = sources.at(b != nullptr ? b : a),
                   .size_before = a != nullptr ? a->bytes.size() : 0,
                   .size_after = b != nullptr ? b->bytes.size() : 0});
    out.back().changed =
        a != nullptr && b != nullptr ? changed(a, b) : out.back().size_before + out.back().size_after;
  }
}

}  // namespace

FunctionDifferences differing_functions(const std::filesystem::path& before,
                                        const std::filesystem::path& after, const std::string& source,
                                        std::vector<std::string> sources) {
  std::vector<ProgramImage> images;
  for (const std::filesystem::path& path : {before, after}) {
    ElfOutcome outcome = read_elf(path);
    if (!outcome.unreadable.empty()) return {{}, fmt::format("{} {}", path.string(), outcome.unreadable)};
    images.emplace_back(std::move(outcome.file));
    if (images.back().functions().empty()) {
      return {{}, path.string() + " names no functions: it was stripped"};
    }
  }
  if (!source.empty()) sources.push_back(source);
  std::map<std::pair<std::string_view, std::string_view>, Namesakes> names;
  std::map<const LinkedFunction*, std::string> sources_of;
  FunctionDifferences out;
  const std::string file = std::filesystem::path(source).filename().string();
  for (std::size_t i = 0; i < 2; ++i) {
    const Registrations registering = registrations(images[i], sources);
    std::map<std::size_t, std::string> units;
    for (const auto& [of, functions] : registering) {
      for (const LinkedFunction* function : functions) units[function->unit] = of;
    }
    const auto own = registering.find(source);
    const bool by_reach = own != registering.end() && !own->second.empty();
    out.reached |= by_reach;
    const auto within = by_reach ? reached(images[i], own->second) : std::set<const LinkedFunction*>();
    for (const LinkedFunction& function : images[i].functions()) {
      if (by_reach ? !within.contains(&function) : !file.empty() && function.file != file) continue;
      Namesakes& all = names[{function.file, function.name}];
      (i == 0 ? all.before : all.after).push_back(&function);
      const auto unit = units.find(function.unit);
      sources_of[&function] =
          function.unit != 0 && unit != units.end() ? unit->second : std::string(function.file);
    }
  }
  if (names.empty()) return {{}, "neither program has local functions of a file named " + file};

  for (auto& [name, all] : names) compare(images[0], images[1], all, sources_of, out.functions);
  std::ranges::stable_sort(out.functions, std::ranges::greater(), &DifferingFunction::changed);
  return out;
}

}  // namespace assay

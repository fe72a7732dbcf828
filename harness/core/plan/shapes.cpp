#include "core/plan/shapes.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"
#include "core/plan/traces.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace assay {
namespace {

/// More would be a mistake: a sweep over several fields multiplies.
constexpr std::size_t most_cases = 10'000;

constexpr std::string_view how = "write it as gemm/m=512,n=512,k=64..4096:x2; `assay list` names fields";

[[noreturn]] void refuse_word(std::string_view word, const std::string& what, std::string_view remedy = how) {
  throw Error("'" + std::string(word) + "'", what, std::string(remedy));
}

Index number_in(std::string_view word, std::string_view text) {
  const auto number = number_from<Index>(text);
  if (!number) refuse_word(word, fmt::format("'{}' is no number", text));
  return *number;
}

/// `64..4096:x2` and `100..500:+100`.
std::vector<std::string> sweep(std::string_view word, std::string_view text) {
  const std::size_t dots = text.find(".."), colon = text.find(':', dots);
  if (colon == std::string_view::npos)
    refuse_word(word, fmt::format("'{}' has no step, such as :x2 or :+64", text));
  const Index first = number_in(word, text.substr(0, dots)),
              last = number_in(word, text.substr(dots + 2, colon - dots - 2));
  const std::string_view step = text.substr(colon + 1);
  const bool multiplies = step.starts_with('x');
  if (!multiplies && !step.starts_with('+'))
    refuse_word(word, fmt::format("'{}' is no step, such as x2 or +64", step));
  const Index by = number_in(word, step.substr(1));
  if (first < 1 || last < first || last > largest_extent || by < (multiplies ? 2 : 1))
    refuse_word(word, fmt::format("'{}' goes nowhere: it has to grow from 1 or more", text));
  std::vector<std::string> out;
  for (Index next = first; next <= last; next = multiplies ? next * by : next + by) {
    if (out.size() == most_cases)
      refuse_word(word, fmt::format("'{}' stands for more than {} extents", text, most_cases));
    out.push_back(std::to_string(next));
  }
  return out;
}

/// `path`: the values are file names, in which dots mean nothing.
std::vector<std::string> values_of(std::string_view word, std::string_view text, bool path) {
  std::vector<std::string> out;
  for (const std::string_view part : parts_of(text, '|')) {
    if (path || part.find("..") == std::string_view::npos) {
      out.emplace_back(part);
    } else {
      const std::vector<std::string> several = sweep(word, part);
      out.insert(out.end(), several.begin(), several.end());
    }
  }
  return out;
}

/// All problems that fields with several values stand for, the last field changing fastest.
std::vector<std::string> problems_of(std::string_view word, std::string_view fields) {
  std::vector<std::string> out{""};
  for (const std::string_view one : parts_of(fields, ',')) {
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos)
      refuse_word(word, fmt::format("'{}' is no field with a value", one));
    const std::string_view name = one.substr(0, equals);
    std::vector<std::string> longer;
    for (const std::string& before : out) {
      for (const std::string& value : values_of(word, one.substr(equals + 1), name == trace_field)) {
        longer.push_back(fmt::format("{}{}{}={}", before, before.empty() ? "" : ",", name, value));
      }
    }
    out = std::move(longer);
    if (out.size() > most_cases) refuse_word(word, fmt::format("stands for more than {} cases", most_cases));
  }
  return out;
}

/// `512x256`, or `8x512x256`.
std::vector<Index> dims_of(std::string_view word, std::string_view text) {
  std::vector<Index> out;
  for (const std::string_view part : parts_of(text, 'x')) out.push_back(number_in(word, part));
  return out;
}

Case matmul(std::string_view word, std::string_view descriptor) {
  constexpr std::string_view form = "write MxK:KxN or BxMxK:BxKxN, as benchdnn --matmul takes them";
  // A name follows the tensors: `n"…"`, since 2023 `_n"…"`.
  const std::string_view named = descriptor.substr(0, descriptor.find('n'));
  const std::vector<std::string_view> tensors =
      parts_of(named.substr(0, named.find_last_not_of('_') + 1), ':');
  if (tensors.size() < 2 || tensors.size() > 3) refuse_word(word, "has no two tensors", form);
  const std::vector<Index> a = dims_of(word, tensors[0]), b = dims_of(word, tensors[1]);
  if (a.size() != b.size() || a.size() < 2)
    refuse_word(word, "its tensors have not two or more dimensions each, as many in both", form);
  const std::size_t rows = a.size() - 2;
  std::vector<Index> c = a;
  c.back() = b.back();
  // Leading dimensions are one batch. One of them that is 1 on one side stands for all of the other.
  Index batch = 1, of_a = 1, of_b = 1;
  bool fits = a.back() == b[rows];
  for (std::size_t i = 0; i < rows; ++i) {
    fits = fits && a[i] > 0 && b[i] > 0 && (a[i] == b[i] || a[i] == 1 || b[i] == 1);
    c[i] = std::max(a[i], b[i]);
    // No tensor has so many elements, and the product stays a number.
    fits = fits && batch <= largest_extent / std::max<Index>(c[i], 1);
    if (!fits) break;
    batch *= c[i];
    of_a *= a[i];
    of_b *= b[i];
  }
  if (!fits) refuse_word(word, "its tensors do not fit each other", form);
  if (tensors.size() == 3 && dims_of(word, tensors[2]) != c)
    refuse_word(word, "its third tensor is not their product", form);
  // One B for all: the rows of A lie one behind the other.
  const bool folds = of_b == 1 && of_a == batch && a[rows] <= largest_extent / batch;
  if (!folds && (of_a != batch || of_b != batch))
    refuse_word(word, "one side is the same for all or some of the batch",
                "batched_gemm has a matrix of its own for each");
  const bool is_batched = rows > 0 && !folds;
  const std::string extents =
      fmt::format("m={},n={},k={}", is_batched ? a[rows] : a[rows] * batch, b.back(), a.back());
  return {.operation = is_batched ? "batched_gemm" : "gemm",
          .problem = is_batched ? fmt::format("batch={},{}", batch, extents) : extents,
          .per_step = 0,
          .note = std::string(word)};
}

/// The numbers of `mb1ic64ih56`, by the letters before them.
std::map<std::string, Index, std::less<>> letters_of(std::string_view word, std::string_view descriptor) {
  constexpr std::string_view known = "g mb ic id ih iw oc od oh ow kd kh kw sd sh sw pd ph pw dd dh dw";
  std::map<std::string, Index, std::less<>> out;
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  for (std::size_t at = 0; at < descriptor.size();) {
    if (descriptor[at] == '_') {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < descriptor.size() && is_letter(descriptor[at])) ++at;
    const std::string letters(descriptor.substr(begin, at - begin));
    if (letters == "n") break;  // what follows is a name
    const std::size_t digits = at;
    while (at < descriptor.size() && std::isdigit(static_cast<unsigned char>(descriptor[at])) != 0) ++at;
    const auto value = number_from<Index>(descriptor.substr(digits, at - digits));
    const std::vector<std::string_view> all = parts_of(known, ' ');
    if (std::ranges::find(all, letters) == all.end())
      refuse_word(word,
                  fmt::format("'{}' is no letter of a convolution",
                              letters.empty() ? descriptor.substr(at) : letters),
                  fmt::format("benchdnn's are {}", known));
    if (!value) refuse_word(word, fmt::format("'{}' has no number behind it", letters));
    if (!out.emplace(letters, *value).second) refuse_word(word, fmt::format("'{}' stands twice", letters));
  }
  return out;
}

Case convolution(std::string_view word, std::string_view descriptor) {
  const auto given = letters_of(word, descriptor);
  const auto value = [&](std::string_view letters, Index otherwise) {
    const auto found = given.find(letters);
    return found == given.end() ? otherwise : found->second;
  };
  for (const std::string_view needed : {"ic", "ih", "oc", "kh"}) {
    if (!given.contains(needed)) refuse_word(word, fmt::format("has no '{}'", needed));
  }
  // A depth of one is two-dimensional, whatever its stride and dilation.
  for (const auto& [depth, flat] : {std::pair{"id", 1}, {"od", 1}, {"kd", 1}, {"pd", 0}}) {
    if (value(depth, flat) != flat)
      refuse_word(word, fmt::format("'{}' asks for three dimensions", depth), "conv2d has two");
  }
  if (value("g", 1) != 1) refuse_word(word, "has groups", "conv2d has one");
  const Index stride = value("sh", 1), dilation = value("dh", 0) + 1;
  if (value("sw", stride) != stride || value("dw", dilation - 1) != dilation - 1)
    refuse_word(word, "has another stride or dilation in width than in height", "conv2d has one of each");
  if (stride < 1) refuse_word(word, "has no stride");
  struct Side {
    Index before, after;
  };
  /// Padding on both sides of one dimension. A side that is not given follows from the extents.
  const auto padding = [&](Index in, Index kernel, std::optional<Index> out, std::optional<Index> before) {
    const Index window = (kernel - 1) * dilation + 1;
    if (!out) return Side{before.value_or(0), before.value_or(0)};
    const Index all = (*out - 1) * stride + window - in;
    if (!before)
      return Side{std::max<Index>(all, 0) / 2, std::max<Index>(all, 0) - std::max<Index>(all, 0) / 2};
    return Side{*before, std::max<Index>(all - *before, 0)};
  };
  const auto maybe = [&](std::string_view letters) {
    return given.contains(letters) ? std::optional(value(letters, 0)) : std::nullopt;
  };
  const Index height = value("ih", 0), width = value("iw", height), kernel = value("kh", 0),
              kernel_w = value("kw", kernel);
  const std::optional<Index> out_h = maybe("oh"), out_w = given.contains("ow") ? maybe("ow")
                                                          : width == height    ? out_h
                                                                               : std::nullopt;
  const std::optional<Index> pad_h = maybe("ph"), pad_w = given.contains("pw") ? maybe("pw") : pad_h;
  const Side rows = padding(height, kernel, out_h, pad_h), columns = padding(width, kernel_w, out_w, pad_w);
  const auto check = [&](std::optional<Index> out, Index in, Index window, const Side& side,
                         std::string_view what) {
    const Index found = (in + side.before + side.after - (window - 1) * dilation - 1) / stride + 1;
    if (out && *out != found)
      refuse_word(word, fmt::format("'{}' is {}, and {} follows from the others", what, *out, found));
  };
  check(out_h, height, kernel, rows, "oh");
  check(out_w, width, kernel_w, columns, "ow");
  std::string problem =
      fmt::format("n={},c={},f={},h={},w={},kernel={},stride={},dilation={},pad={}", value("mb", 2),
                  value("ic", 0), value("oc", 0), height, width, kernel, stride, dilation, rows.before);
  // A field equal to its default is left out, as suites spell their cases.
  if (kernel_w != kernel) problem += fmt::format(",kernel_w={}", kernel_w);
  if (rows.after != rows.before) problem += fmt::format(",bottom={}", rows.after);
  if (columns.before != rows.before) problem += fmt::format(",left={}", columns.before);
  if (columns.after != rows.before) problem += fmt::format(",right={}", columns.after);
  return {.operation = "conv2d", .problem = std::move(problem), .per_step = 0, .note = std::string(word)};
}

std::vector<Case> cases_of(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos) refuse_word(word, "names no operation with a problem");
  const std::string_view operation = word.substr(0, slash), rest = word.substr(slash + 1);
  if (operation == "matmul") return {matmul(word, rest)};
  if (operation == "conv") return {convolution(word, rest)};
  std::vector<Case> out;
  for (std::string& problem : problems_of(word, rest))
    out.push_back(
        {.operation = std::string(operation), .problem = std::move(problem), .per_step = 0, .note = {}});
  return out;
}

/// Replaces characters that a file name may not have. A long name ends in a hash.
std::string name_of(const std::string& text) {
  constexpr std::size_t longest = 80;
  std::string out = text;
  std::ranges::replace_if(
      out,
      [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) == 0 &&
               std::string_view("=,.-_+").find(c) == std::string_view::npos;
      },
      '_');
  return out.size() <= longest ? out : fmt::format("{}_{:016x}", out.substr(0, longest - 17), fnv1a(text));
}

}  // namespace

bool names_shapes(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0) return false;
  const std::string_view operation = text.substr(0, slash);
  if (text.ends_with(".json") && text.find(fmt::format("{}=", trace_field), slash) == std::string_view::npos)
    return false;
  return operation == "matmul" || operation == "conv" || text.find('=') != std::string_view::npos;
}

Suite suite_of_shapes(const std::string& text, const Registry& registry) {
  Suite out{
      .name = name_of(text), .about = "cases of a command line: " + text, .steps_per_epoch = 0, .cases = {}};
  std::set<std::string> seen;
  for (const std::string_view word : parts_of(text, ' ')) {
    if (word.empty()) continue;
    for (Case& row : cases_of(word)) {
      make_canonical(row, registry.at(row.operation), fmt::format("'{}'", word), "");
      if (seen.insert(row.operation + "/" + row.problem).second) out.cases.push_back(std::move(row));
    }
    if (out.cases.size() > most_cases)
      refuse_word(word, fmt::format("with those before it, stands for more than {} cases", most_cases));
  }
  if (out.cases.empty()) refuse_word(text, "names no case");
  return out;
}

}  // namespace assay


#include "core/plan/suite.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/random.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <system_error>

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Every plan reads the whole file. The longest accepted trace has 2^20 lines.
constexpr std::uintmax_t largest_trace = std::uintmax_t{1} << 28;

/// Stands in the place of the fields that the file has; others may follow, as in `trace=a.csv,plans=one`.
constexpr std::string_view trace_field = "trace";

std::vector<std::string> fields_in(std::string_view text) {
  if (text.empty()) return {};
  const auto parts = parts_of(text, ',');
  return {parts.begin(), parts.end()};
}

bool is_trace(std::string_view field) {
  return field.starts_with(trace_field) && field.substr(trace_field.size()).starts_with('=');
}

/// Keys are split, searched by regular expressions and copied into shells.
bool may_stand_in_keys(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0 ||
         std::string_view("/._-+=@").find(c) != std::string_view::npos;
}

void require_name(const std::string& name, const std::string& where, bool below) {
  const fs::path path = name;
  if (!path.has_filename()) throw Error(where, fmt::format("'{}' names no file", name), "give its path");
  if (!std::ranges::all_of(name, may_stand_in_keys)) {
    throw Error(where, fmt::format("'{}' cannot stand in keys", name),
                "rename the file: letters, digits and / . _ - + = @ can");
  }
  if (below && (path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end())) {
    throw Error(where, fmt::format("'{}' leads out of the folder of the suite", name),
                "put the file beside the suite or below it, so that both go to other machines together");
  }
}

/// Throws Error for a file that would never end or is too large.
void require_moderate(const fs::path& file) {
  std::error_code unknown;
  if (!fs::is_regular_file(file, unknown)) {
    throw Error(file.string(), fs::exists(file, unknown) ? "is no regular file" : "is not there",
                "check the path");
  }
  if (fs::file_size(file, unknown) > largest_trace) {
    throw Error(file.string(), fmt::format("has more than {} MiB", largest_trace >> 20), "cut it");
  }
}

constexpr Index suite_schema = 1;

std::string contents(const std::filesystem::path& file) {
  try {
    return read_file(file);
  } catch (const Error&) {
    throw Error(
        file.string(), "cannot be read",
        "give the path of a suite, for example suites/smoke.json, or cases as gemm/m=512,n=512,k=512");
  }
}

/// The suite of the project that a word names, such as `smoke`, or `resnet18` for resnet18_cifar10; the word
/// itself where there is none. Throws Error where there are several.
std::filesystem::path of_that_name(const std::filesystem::path& word) {
  const std::string name = word.string();
  if (name.empty() || name.find('/') != std::string::npos || word.has_extension()) return word;
  // They lie below this program, or where it is installed.
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  for (const fs::path& folder :
       {fs::path("suites"), program / "../../suites", program / "../share/assay/suites"}) {
    std::set<std::filesystem::path> found;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
      const std::string stem = entry.path().stem().string();
      if (entry.path().extension() != ".json") continue;
      if (stem == name) return entry.path();
      if (stem.starts_with(name + "_")) found.insert(entry.path());
    }
    if (found.size() > 1) {
      throw Error("'" + name + "'", "names several suites",
                  fmt::format("choose one: {} or {}", found.begin()->stem().string(),
                              found.rbegin()->stem().string()));
    }
    if (!found.empty()) return *found.begin();
  }
  return word;
}

std::string value_text(const JsonField& field) {
  if (field.value().is_string()) {
    if (field.text().find(',') != std::string::npos) field.refuse("has a comma, which ends fields in keys");
    return field.text();
  }
  if (!field.value().is_integer())
    field.refuse("is " + field.value().dump() + ", must be an integer or a word");
  return field.value().dump();
}

const Operation& operation_of(const Registry& registry, const Case& row, const std::string& where) {
  try {
    return registry.at(row.operation);
  } catch (const Error& failure) {
    throw Error(where, failure.what(), "");
  }
}

constexpr std::string_view how = "write it as gemm/m=512,n=512,k=64..4096:x2; `assay list` names fields";

[[noreturn]] void refuse_word(std::string_view word, const std::string& what, std::string_view remedy = how) {
  throw Error("'" + std::string(word) + "'", what, std::string(remedy));
}

/// Asked before so many are made: more would be a mistake, and a sweep over several fields multiplies.
void require_few(std::string_view word, std::size_t cases) {
  constexpr std::size_t most_cases = 10'000;
  if (cases > most_cases) refuse_word(word, fmt::format("stands for more than {} cases", most_cases));
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
  // More leads beyond every last extent, and sums and products stay numbers.
  const Index by = std::min(number_in(word, step.substr(1)), largest_extent + 1);
  if (first < 1 || last < first || last > largest_extent || by < (multiplies ? 2 : 1))
    refuse_word(word, fmt::format("'{}' goes nowhere: it has to grow from 1 or more", text));
  std::vector<std::string> out;
  for (Index next = first; next <= last; next = multiplies ? next * by : next + by) {
    require_few(word, out.size() + 1);
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
      require_few(word, out.size() + several.size());
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
    const auto values = values_of(word, one.substr(equals + 1), name == trace_field);
    require_few(word, out.size() * values.size());
    std::vector<std::string> longer;
    for (const std::string& before : out) {
      for (const std::string& value : values)
        longer.push_back(fmt::format("{}{}{}={}", before, before.empty() ? "" : ",", name, value));
    }
    out = std::move(longer);
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
    // Products of two extents stay numbers.
    if (!value || *value > largest_extent)
      refuse_word(word, fmt::format("'{}' has no extent behind it", letters));
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
  if (const Index groups = value("g", 1); groups != 1) problem += fmt::format(",groups={}", groups);
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

/// Makes the problem of a case canonical, and finds its file if it names one. `folder` has the suite, below
/// which its files lie, so that they go with it to other machines; with none, for a command line, the file is
/// sought from the working directory and may be anywhere. Throws Error naming `where` and the field at fault.
void make_canonical(Case& row, const Operation& operation, const std::string& where, const fs::path& folder) {
  std::vector<std::string> fields = fields_in(row.problem);
  const auto traces = std::ranges::count_if(fields, is_trace);
  const std::vector<FieldRule> own = operation.fields();
  if (traces == 0 || std::ranges::find(own, trace_field, &FieldRule::name) != own.end()) {
    row.problem = operation.canonical(where, row.problem);
    return;
  }
  const std::string place = fmt::format("{}: {}", where, trace_field);
  if (traces > 1) throw Error(place, "is given twice", "give it once");
  const auto trace = std::ranges::find_if(fields, is_trace);
  std::rotate(fields.begin(), trace, trace + 1);
  const std::string name = fields.front().substr(trace_field.size() + 1);
  require_name(name, place, !folder.empty());
  row.file = fs::absolute(folder / name).lexically_normal();
  try {
    std::vector<std::string> all =
        fields_in(fields_of(operation, fmt::format("{}", fmt::join(fields, ",")), row.file));
    const std::vector<std::string> held = fields_in(operation.problem_of(row.file));
    std::erase_if(all, [&](const std::string& one) { return std::ranges::find(held, one) != held.end(); });
    all.insert(all.begin(), fields.front());
    row.problem = fmt::format("{}", fmt::join(all, ","));
  } catch (const Error& failure) {
    throw Error(place, failure.what(), "");
  }
}

}  // namespace

std::string fields_of(const Operation& operation, const std::string& problem, const fs::path& file) {
  if (file.empty()) return problem;
  require_moderate(file);
  const std::size_t others = problem.find(',');
  return operation.canonical(
      operation.name(),
      operation.problem_of(file) + (others == std::string::npos ? "" : problem.substr(others)));
}

void describe(Fields& f, Case& row) {
  f("op", row.operation);
  f("per_step", row.per_step,
    {.optional = true, .least = 0, .most = most_amount, .about = "occurrences in one training step"});
  f("note", row.note, {.optional = true});
  // Every other key is a field of the problem, which the operation checks.
  for (const auto& [key, field] : f.others({{"type", Json::array({"integer", "string"})}})) {
    row.problem += fmt::format("{}{}={}", row.problem.empty() ? "" : ",", key, value_text(field));
  }
}

void describe(Fields& f, Suite& suite) {
  Index schema = suite_schema;
  f("schema", schema, {.low = suite_schema, .high = suite_schema});
  f.only<Suite>();
  f("name", suite.name, {.about = "as the file is called"});
  f("about", suite.about, {.about = "model, batch, and where the shapes come from"});
  f("steps_per_epoch", suite.steps_per_epoch,
    {.optional = true, .least = 0, .most = most_amount, .about = "0: no network"});
  f("cases", suite.cases);
  if (f.reads() && suite.cases.empty()) f.refuse("cases", "is empty: add a case");
}

Suite load_suite(const std::filesystem::path& asked, const Registry& registry) {
  std::error_code too_long;  // cases may be longer than a file's name
  const bool is_there = std::filesystem::exists(asked, too_long);
  if (!is_there && names_shapes(asked.string())) return suite_of_shapes(asked.string(), registry);
  const std::filesystem::path path = is_there ? asked : of_that_name(asked);
  const Json json = parse_json(contents(path), path.string());
  const JsonField file(json, path.string(), "see suites/README.md for the format");
  auto suite = value_from<Suite>(file);
  if (suite.name != path.stem().string()) {
    file.at("name").refuse(
        fmt::format("is \"{}\", must be \"{}\" as the file is called: baselines and reports are "
                    "found by name",
                    suite.name, path.stem().string()));
  }
  const std::vector<JsonField> cases = file.at("cases").items();
  std::set<std::string> seen;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case& row = suite.cases[i];
    const std::string where = fmt::format("{}: cases[{}]", path.string(), i);
    make_canonical(row, operation_of(registry, row, where), fmt::format("{} ({})", where, row.operation),
                   std::filesystem::absolute(path).parent_path());
    if (!seen.insert(row.operation + "/" + row.problem).second) {
      cases[i].refuse(
          fmt::format("repeats {}/{}: add up their per_step in one case", row.operation, row.problem));
    }
  }
  return suite;
}

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
    require_few(word, out.cases.size());
  }
  if (out.cases.empty()) refuse_word(text, "names no case");
  return out;
}

}  // namespace assay

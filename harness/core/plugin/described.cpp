#include "core/plugin/described.hpp"

#include "assay/error.hpp"
#include "core/check/contained.hpp"
#include "core/plugin/half.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <set>

namespace assay {
namespace {

using Op = DescribedOp;

/// What no reference writes.
constexpr std::uint64_t unwritten = 0x7ff8dead7ff8dead;

std::string_view kind_of(const PluginTensor& tensor) {
  static constexpr std::string_view changing[] = {"f32", "f64", "f16", "bf16", "i32", "i64", "u8"};
  static constexpr std::string_view constant[] = {"constant_word", "constant_wide", "constant_half",
                                                  "constant_half", "constant_word", "constant_wide",
                                                  "constant_u8"};
  static constexpr std::string_view written[] = {"word", "wide", "half", "half", "word", "wide", "u8"};
  const auto type = static_cast<std::size_t>(tensor.type);
  return tensor.use == ASSAY_INPUT      ? changing[type]
         : tensor.use == ASSAY_CONSTANT ? constant[type]
                                        : written[type];
}

/// The tensors that `counts` selects, in slots.
template <class Counts>
std::vector<Op::Place> places_of(const Op::Problem& problem, const Counts& counts) {
  std::vector<Op::Place> out;
  for (const PluginTensor& tensor : problem.shapes().tensors) {
    const std::string_view kind = kind_of(tensor);
    if (!counts(tensor)) continue;
    const auto at = static_cast<std::size_t>(std::ranges::count(out, kind, &Op::Place::kind));
    if (at == Op::slots) {
      throw Error(problem.library->file().string(),
                  fmt::format("{} has more than {} tensors like {}", problem.described().name, Op::slots,
                              tensor.name),
                  "put several of them into one");
    }
    out.push_back({kind, at, &tensor});
  }
  return out;
}

void store(const PluginTensor& tensor, void* at, double value) {
  switch (tensor.type) {
    case ASSAY_F32: {
      const auto x = static_cast<float>(value);
      std::memcpy(at, &x, sizeof x);
      break;
    }
    case ASSAY_F64: std::memcpy(at, &value, sizeof value); break;
    case ASSAY_F16:
    case ASSAY_BF16: {
      const auto x = static_cast<float>(value);
      const std::uint16_t bits = tensor.type == ASSAY_F16 ? to_f16(x) : to_bf16(x);
      std::memcpy(at, &bits, sizeof bits);
      break;
    }
    default: {  // little-endian: the lower bytes come first
      const auto x = static_cast<std::int64_t>(value);
      std::memcpy(at, &x, tensor.width());
    }
  }
}

template <class T>
T loaded_as(const void* at) {
  T out;
  std::memcpy(&out, at, sizeof out);
  return out;
}

double value_at(int type, const void* at) {
  switch (type) {
    case ASSAY_F32: return loaded_as<float>(at);
    case ASSAY_F64: return loaded_as<double>(at);
    case ASSAY_F16: return from_f16(loaded_as<std::uint16_t>(at));
    case ASSAY_BF16: return from_bf16(loaded_as<std::uint16_t>(at));
    case ASSAY_I32: return loaded_as<std::int32_t>(at);
    case ASSAY_I64: return static_cast<double>(loaded_as<std::int64_t>(at));
    default: return loaded_as<std::uint8_t>(at);
  }
}

std::vector<double> values_at(const PluginTensor& tensor, const void* data) {
  std::vector<double> out(static_cast<std::size_t>(tensor.size()));
  const auto* bytes = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = value_at(tensor.type, bytes + i * tensor.width());
  return out;
}

void fill(const PluginTensor& tensor, void* data, Setting& setting) {
  auto* bytes = static_cast<std::byte*>(data);
  for (Index i = 0; i < tensor.size(); ++i) {
    const double value = tensor.is_number()
                             ? setting.draw()
                             : static_cast<double>(setting.rng.integer(tensor.low, tensor.high));
    store(tensor, bytes + static_cast<std::size_t>(i) * tensor.width(), value);
  }
}

/// Calls visit(buffer) for the buffer in this place of `owner`, whose parts have the kind's name.
template <class Owner, class Visit>
void at_place(Owner& owner, std::string_view kind, std::size_t at, const Visit& visit) {
  const auto look = [&](const auto& part) {
    if (part.name == kind && part.at == at) visit(part.of(owner));
  };
  std::apply([&](const auto&... parts) { (look(parts), ...); }, std::remove_const_t<Owner>::parts());
}

/// The data of a tensor: where calls find it, or where updates of it start from.
void* data_of(const Op::Input& input, const Op::Place& place, bool start) {
  void* out = nullptr;
  const std::string kind = start ? fmt::format("start_{}", place.kind) : std::string(place.kind);
  at_place(const_cast<Op::Input&>(input), kind, place.at, [&](auto& buffer) { out = buffer.data(); });
  return out;
}

void* data_of(Op::Output& output, const Op::Place& place) {
  void* out = nullptr;
  at_place(output, place.kind, place.at, [&](auto& buffer) { out = buffer.data(); });
  return out;
}

bool is_written(const PluginTensor& tensor) { return !tensor.is_read(); }
bool is_updated(const PluginTensor& tensor) { return tensor.use == ASSAY_INOUT; }

/// Whether two results are the same, bit by bit.
bool same(const PluginLibrary::Doubles& a, const PluginLibrary::Doubles& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size() ||
        std::memcmp(a[i].data(), b[i].data(), a[i].size() * sizeof(double)) != 0)
      return false;
  }
  return true;
}

/// The result of the reference, which is asked twice for each problem at first, and has to write all outputs.
void ask_reference(const Op::Problem& problem, PluginLibrary::Doubles& numbers,
                   PluginLibrary::Doubles* bounds) {
  static std::mutex mutex;
  static std::set<std::string> asked_twice;
  const auto values = problem.named_values();
  std::string key = fmt::format("{}:{}", problem.library->file().string(), problem.operation);
  for (const NamedValue& value : values) key += fmt::format(",{}", value.value);
  bool first = false;
  {
    const std::lock_guard lock(mutex);
    first = asked_twice.insert(std::move(key)).second;
  }
  PluginLibrary::Doubles again;
  if (first) again = numbers;
  problem.library->reference(problem.operation, values, numbers, bounds);
  const std::string where = problem.library->file().string(), name = problem.described().name;
  if (first) {
    problem.library->reference(problem.operation, values, again, nullptr);
    if (!same(numbers, again)) {
      throw OperationFault(where, fmt::format("the reference of {} gives two results for one input", name),
                           "let it depend on the problem and on its inputs alone, and write all outputs");
    }
  }
  const auto& tensors = problem.shapes().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].use != ASSAY_OUTPUT || !tensors[i].is_number()) continue;
    const auto hole = std::ranges::find_if(
        numbers[i], [](double x) { return std::bit_cast<std::uint64_t>(x) == unwritten; });
    if (hole != numbers[i].end()) {
      throw OperationFault(where,
                           fmt::format("the reference of {} leaves {}[{}] unwritten", name, tensors[i].name,
                                       hole - numbers[i].begin()),
                           "write every element of every output");
    }
  }
}

/// Relative and absolute tolerance of torch.testing.assert_close(), for integers none.
std::pair<double, double> usual_tolerance(int type) {
  switch (type) {
    case ASSAY_F32: return {1.3e-6, 1e-5};
    case ASSAY_F64: return {1e-7, 1e-7};
    case ASSAY_F16: return {1e-3, 1e-5};
    case ASSAY_BF16: return {1.6e-2, 1e-5};
    default: return {0, 0};
  }
}

}  // namespace

std::vector<NamedValue> DescribedOp::Problem::named_values() const {
  std::vector<NamedValue> out;
  const auto& rules = described().rules;
  for (std::size_t i = 0; i < values.size(); ++i) out.push_back({rules[i].name, values[i]});
  return out;
}

double DescribedOp::footprint(const Problem& problem) {
  double out = 0;
  for (const PluginTensor& tensor : problem.shapes().tensors) {
    const auto size = static_cast<double>(tensor.size());
    out += size * static_cast<double>(tensor.width()) * (is_updated(tensor) ? 2 : 1) + 24 * size;
  }
  return out;
}

Cost DescribedOp::cost(const Problem& problem) {
  const PluginProblem& shapes = problem.shapes();
  // Nobody but the library knows what a right kernel may do without.
  return {.flops = shapes.flops,
          .bytes_read = shapes.bytes_read,
          .bytes_written = shapes.bytes_written,
          .f32 = std::ranges::all_of(
              shapes.tensors, [](const PluginTensor& t) { return !t.is_number() || t.type == ASSAY_F32; })};
}

auto DescribedOp::make_input(const Problem& problem, Setting& setting) -> Input {
  Input out;
  out.all = places_of(problem, [](const PluginTensor& tensor) { return tensor.is_read(); });
  for (const Place& place : places_of(problem, is_written)) {
    if (is_updated(*place.tensor)) out.all.push_back(place);
  }
  for (Place& place : out.all) {
    const bool start = is_updated(*place.tensor);
    const auto make = [&](auto& buffer) {
      using T = std::remove_cvref_t<decltype(buffer[0])>;
      buffer = setting.buffer<T>(place.tensor->size());
      fill(*place.tensor, buffer.data(), setting);
    };
    at_place(out, start ? fmt::format("start_{}", place.kind) : std::string(place.kind), place.at, make);
    if (!start) continue;
    static constexpr std::string_view starts[] = {"start_word", "start_wide", "start_half", "start_half",
                                                  "start_word", "start_wide", "start_u8"};
    place.kind = starts[place.tensor->type];
  }
  return out;
}

template <class T>
void DescribedOp::salt(const Problem&, const Input&, std::string_view part, Index, T& element,
                       Setting& setting) {
  if constexpr (std::is_same_v<T, std::uint16_t>) {
    element = part == "f16" ? to_f16(setting.draw()) : to_bf16(setting.draw());
  } else {
    element = static_cast<T>(setting.draw());
  }
}

auto DescribedOp::make_output(const Problem& problem, const Input& input, const Setting& setting) -> Output {
  Output out;
  out.all = places_of(problem, is_written);
  for (const Place& place : out.all) {
    at_place(out, place.kind, place.at, [&](auto& buffer) {
      using T = std::remove_cvref_t<decltype(buffer[0])>;
      buffer = setting.buffer<T>(place.tensor->size());
      if (is_updated(*place.tensor) && buffer.size() > 0) {
        std::memcpy(buffer.data(), data_of(input, place, true),
                    sizeof(T) * static_cast<std::size_t>(buffer.size()));
      }
    });
  }
  return out;
}

auto DescribedOp::expect(const Problem& problem, const Input& input, Setting& setting) -> Expected {
  Expected out;
  const PluginOperation& described = problem.described();
  const auto& tensors = problem.shapes().tensors;
  const auto read = places_of(problem, [](const PluginTensor& tensor) { return tensor.is_read(); });
  const auto written = places_of(problem, is_written);
  for (const PluginTensor& tensor : tensors) {
    const auto& places = tensor.is_read() ? read : written;
    const Place& place = *std::ranges::find(places, &tensor, &Place::tensor);
    if (tensor.use == ASSAY_OUTPUT) {
      out.value.emplace_back(static_cast<std::size_t>(tensor.size()), std::bit_cast<double>(unwritten));
      if (!tensor.is_number()) std::ranges::fill(out.value.back(), 0);
    } else {
      out.value.push_back(values_at(tensor, data_of(input, place, is_updated(tensor))));
    }
  }
  const bool bounded = described.has_bound && setting.fill != Fill::exact;
  ask_reference(problem, out.value, bounded ? &out.bound : nullptr);
  out.bound.resize(tensors.size());
  const bool asked = described.relative > 0 || described.absolute > 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const PluginTensor& tensor = tensors[i];
    if (tensor.is_read() || (bounded && tensor.is_number())) continue;
    const auto [relative, absolute] = !tensor.is_number() || setting.fill == Fill::exact ? std::pair(0.0, 0.0)
                                      : asked ? std::pair(described.relative, described.absolute)
                                              : usual_tolerance(tensor.type);
    out.bound[i].clear();
    for (const double x : out.value[i]) {
      out.bound[i].push_back(std::isfinite(x) ? relative * std::abs(x) + absolute : 0);
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].is_read()) continue;
    const auto bad = std::ranges::find_if(out.bound[i], [](double b) { return !(b >= 0); });
    if (bad == out.bound[i].end()) continue;
    throw OperationFault(problem.library->file().string(),
                         fmt::format("bound() of {} allows {}[{}] an error of {}", described.name,
                                     tensors[i].name, bad - out.bound[i].begin(), *bad),
                         "an error is a number from 0 on");
  }
  return out;
}

Agreement DescribedOp::judge(const Problem& problem, const Input&, const Expected& expected,
                             const Output& output) {
  Agreement out;
  const auto& tensors = problem.shapes().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const PluginTensor& tensor = tensors[i];
    if (tensor.is_read()) continue;
    const Place& place = *std::ranges::find(output.all, &tensor, &Place::tensor);
    const void* data = data_of(const_cast<Output&>(output), place);
    const Shape shape{tensor.name, tensor.extents};
    const auto size = static_cast<std::size_t>(tensor.size());
    if (tensor.type == ASSAY_F32) {
      const std::span<const float> actual(static_cast<const float*>(data), size);
      out = out & within(shape, actual, expected.value[i], expected.bound[i]);
    } else {
      const std::vector<double> actual = values_at(tensor, data);
      out = out & within(shape, std::span<const double>(actual), expected.value[i], expected.bound[i]);
    }
  }
  return out;
}

std::vector<Tensor> DescribedOp::tensors(const Problem& problem, const Input& input, Output* output) {
  std::vector<Tensor> out;
  for (const PluginTensor& tensor : problem.shapes().tensors) {
    if (!tensor.is_read() && output == nullptr) continue;
    const auto& places = tensor.is_read() ? input.all : output->all;
    const Place& place = *std::ranges::find(places, &tensor, &Place::tensor);
    out.push_back({.name = tensor.name,
                   .type = static_cast<ElementType>(tensor.type),
                   .use = static_cast<Tensor::Use>(tensor.use),
                   .width = tensor.width(),
                   .size = tensor.size(),
                   .data = tensor.is_read() ? data_of(input, place, false) : data_of(*output, place)});
  }
  return out;
}

DescribedOperation::DescribedOperation(std::shared_ptr<const PluginLibrary> library, std::size_t operation)
    : library_(std::move(library)),
      operation_(operation),
      described_(&library_->content().operations.at(operation)) {
  std::set<std::string_view> names;
  for (const PluginRule& rule : described_->rules) {
    const bool fits = !rule.fallback || (*rule.fallback >= rule.low && *rule.fallback <= rule.high);
    if (rule.name.empty() || !names.insert(rule.name).second || rule.low > rule.high || !fits) {
      throw Error(library_->file().string(),
                  fmt::format("the rule of field '{}' of {} makes no sense", rule.name, described_->name),
                  "give each field a name of its own, low <= high, and a fallback between them");
    }
    rules_.push_back({rule.name, rule.low, rule.high, rule.fallback, {}});
  }
}

std::vector<Fill> DescribedOperation::fills() const {
  return described_->exact ? std::vector{Fill::exact, Fill::uniform} : std::vector{Fill::uniform};
}

std::string DescribedOperation::canonical(std::string_view where, std::string_view problem) const {
  return format_fields(parse_fields(where, problem, rules_), rules_);
}

std::vector<std::string> DescribedOperation::corner_cases() const {
  std::vector<std::string> out;
  for (const std::string& problem : described_->corner_cases) {
    out.push_back(canonical(fmt::format("corner case of {}", name()), problem));
  }
  return out;
}

std::string DescribedOperation::problem_of(const std::filesystem::path& file) const {
  detail::throw_takes_no_file(name(), file);
}

DescribedOp::Problem DescribedOperation::parse(std::string_view problem) const {
  return {library_, operation_, parse_fields(name(), problem, rules_)};
}

void DescribedOperation::add(UntypedVariant variant, const VariantInfo& origin) {
  if (std::ranges::find(variants(), variant.name, &VariantInfo::name) != variants().end()) {
    throw Error(fmt::format("{}/{}", name(), variant.name), "registered twice",
                "rename one of the two variants");
  }
  typed_.add(std::move(variant), origin);
}

UntypedVariant DescribedOperation::naive() const {
  UntypedVariant out{.name = "naive",
                     .summary = "the reference, in double precision: converted there and back"};
  out.prepare = [library = library_, operation = operation_](std::span<const NamedValue> named,
                                                             std::span<const Tensor>, const Context&) {
    DescribedOp::Problem problem{library, operation, {}};
    for (const NamedValue& value : named) problem.values.push_back(value.value);
    return UntypedVariant::Ready{
        .call =
            [problem](std::span<const Tensor> tensors) {
              const auto& shapes = problem.shapes().tensors;
              PluginLibrary::Doubles numbers;
              for (std::size_t i = 0; i < tensors.size(); ++i) {
                numbers.push_back(shapes[i].use == ASSAY_OUTPUT
                                      ? std::vector<double>(static_cast<std::size_t>(shapes[i].size()))
                                      : values_at(shapes[i], tensors[i].data));
              }
              problem.library->reference(problem.operation, problem.named_values(), numbers, nullptr);
              for (std::size_t i = 0; i < tensors.size(); ++i) {
                if (shapes[i].is_read()) continue;
                auto* bytes = static_cast<std::byte*>(tensors[i].data);
                for (std::size_t at = 0; at < numbers[i].size(); ++at) {
                  store(shapes[i], bytes + at * shapes[i].width(), numbers[i][at]);
                }
              }
            },
        .finish = {},
        .seconds = {}};
  };
  return out;
}

}  // namespace assay

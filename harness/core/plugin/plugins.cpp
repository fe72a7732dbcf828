#include "assay/error.hpp"
#include "core/check/contained.hpp"
#include "core/files/this_program.hpp"
#include "core/plugin/library.hpp"
#include "core/registry/erased_operation.hpp"
#include "core/registry/workload.hpp"
#include "core/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <string_view>

namespace assay {
namespace {

// The contract of an operation that a plug-in describes: its problems, tensors and reference.

/// No reference writes this NaN.
constexpr std::uint64_t unwritten = 0x7ff8dead7ff8dead;

/// IEEE 754 half precision: rounded to nearest, ties to even; too large ones become infinite.
std::uint16_t to_f16(float value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float size = std::abs(value);
  constexpr std::uint16_t infinity = 0x7c00, quiet = 0x7e00;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | quiet);
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | infinity);
  int exponent = 0;
  std::frexp(size, &exponent);  // size < 2^exponent
  // Units in the last place are 2^-24 below the normal range, from 2^-14 down.
  const int unit = exponent - 11 < -24 ? -24 : exponent - 11;
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -unit)));
  // A sum that carries into the exponent is right as well.
  const std::uint32_t bits = unit == -24 ? units : (static_cast<std::uint32_t>(unit + 24) << 10) + units;
  return static_cast<std::uint16_t>(sign | bits);
}

float from_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  const float units = static_cast<float>(exponent == 0 ? fraction : fraction + 1024);
  return sign * std::ldexp(units, (exponent == 0 ? 1 : exponent) - 25);
}

/// The upper half of single precision, rounded likewise.
std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  constexpr std::uint16_t quiet = 0x40;
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | quiet);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

void store(int type, void* at, double value) {
  const auto put = [at](auto x) { std::memcpy(at, &x, sizeof x); };
  switch (type) {
    case ASSAY_F32: return put(static_cast<float>(value));
    case ASSAY_F64: return put(value);
    case ASSAY_F16: return put(to_f16(static_cast<float>(value)));
    default: return put(to_bf16(static_cast<float>(value)));
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
    default: return from_bf16(loaded_as<std::uint16_t>(at));
  }
}

std::int64_t integer_at(int type, const void* at) {
  switch (type) {
    case ASSAY_I32: return loaded_as<std::int32_t>(at);
    case ASSAY_I64: return loaded_as<std::int64_t>(at);
    default: return loaded_as<std::uint8_t>(at);
  }
}

using Values = PluginLibrary::Values;

Values values_at(const PluginTensor& tensor, const void* data) {
  Values out;
  const auto* bytes = static_cast<const std::byte*>(data);
  const auto size = static_cast<std::size_t>(tensor.size());
  if (!tensor.is_number()) out.integers.assign(bytes, bytes + size * tensor.width());
  for (std::size_t i = 0; tensor.is_number() && i < size; ++i) {
    out.numbers.push_back(value_at(tensor.type, bytes + i * tensor.width()));
  }
  return out;
}

/// The values of an output, each of them `number` or 0.
Values unwritten_values(const PluginTensor& tensor, double number) {
  const auto size = static_cast<std::size_t>(tensor.size());
  if (tensor.is_number()) return {std::vector<double>(size, number), {}};
  return {{}, std::vector<std::byte>(size * tensor.width())};
}

void fill(const PluginTensor& tensor, void* data, Setting& setting) {
  auto* bytes = static_cast<std::byte*>(data);
  for (Index i = 0; i < tensor.size(); ++i) {
    std::byte* const at = bytes + static_cast<std::size_t>(i) * tensor.width();
    if (tensor.is_number()) {
      store(tensor.type, at, setting.draw());
    } else {
      const std::int64_t value = setting.rng.integer(tensor.low, tensor.high);
      std::memcpy(at, &value, tensor.width());  // little-endian: the lower bytes come first
    }
  }
}

bool is_updated(const PluginTensor& tensor) { return tensor.use == ASSAY_INOUT; }

struct Problem {
  std::shared_ptr<const PluginLibrary> library;
  std::size_t operation = 0;
  std::vector<Index> values;

  const PluginOperation& described() const { return library->content().operations.at(operation); }
  std::vector<NamedValue> named_values() const {
    std::vector<NamedValue> out;
    const auto& rules = described().rules;
    for (std::size_t i = 0; i < values.size(); ++i) out.push_back({rules[i].name, values[i]});
    return out;
  }
  const PluginProblem& shapes() const { return library->problem(operation, named_values()); }
};

/// The buffer of a tensor.
struct Held {
  const PluginTensor* tensor;
  detail::GuardedBlock block;
  int place = 0;  ///< among the outputs

  detail::BufferView view() const {
    return {.name = tensor->name,
            .type = static_cast<ElementType>(tensor->type),
            .width = tensor->width(),
            .block = const_cast<detail::GuardedBlock*>(&block),
            .data = block.payload(),
            .size = tensor->size()};
  }
};

/// The inputs in order, and then, for each tensor that is updated, its values before.
struct Input {
  std::vector<Held> read, starts;
};
using Output = std::vector<Held>;
struct Expected {
  std::vector<Values> value;               ///< by tensor
  std::vector<std::vector<double>> bound;  ///< by tensor; integers have none
};

Held held(const PluginTensor& tensor, const Placement& placement) {
  Held out{&tensor, detail::GuardedBlock::placed(tensor.width() * static_cast<std::size_t>(tensor.size()),
                                                 tensor.width(), placement)};
  detail::poison(out.view());
  return out;
}
const Held& of(const PluginTensor& tensor, const std::vector<Held>& all) {
  return *std::ranges::find(all, &tensor, &Held::tensor);
}

void salt(detail::Salting& salting, const detail::BufferView& part, Index at) {
  store(static_cast<int>(part.type), part.element(at), salting.setting.draw());
}

bool same(const std::vector<Values>& a, const std::vector<Values>& b) {
  const auto same_bits = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  return std::ranges::equal(a, b, [&](const Values& x, const Values& y) {
    return x.integers == y.integers && std::ranges::equal(x.numbers, y.numbers, same_bits);
  });
}

/// The result of the reference, which is asked twice for each problem at first, and has to write all outputs.
void ask_reference(const Problem& problem, std::vector<Values>& results,
                   std::vector<std::vector<double>>* bounds) {
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
  std::vector<Values> again;
  if (first) again = results;
  problem.library->reference(problem.operation, values, results, bounds);
  const std::string where = problem.library->file().string(), name = problem.described().name;
  if (first) {
    problem.library->reference(problem.operation, values, again, nullptr);
    if (!same(results, again)) {
      throw OperationFault(where, fmt::format("the reference of {} gives two results for one input", name),
                           "let it depend on the problem and on its inputs alone, and write all outputs");
    }
  }
  const auto& tensors = problem.shapes().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].use != ASSAY_OUTPUT || !tensors[i].is_number()) continue;
    const auto& numbers = results[i].numbers;
    const auto hole =
        std::ranges::find_if(numbers, [](double x) { return std::bit_cast<std::uint64_t>(x) == unwritten; });
    if (hole != numbers.end()) {
      throw OperationFault(where,
                           fmt::format("the reference of {} leaves {}[{}] unwritten", name, tensors[i].name,
                                       hole - numbers.begin()),
                           "write every element of every output");
    }
  }
}

/// Relative and absolute tolerance of torch.testing.assert_close().
std::pair<double, double> usual_tolerance(int type) {
  switch (type) {
    case ASSAY_F32: return {1.3e-6, 1e-5};
    case ASSAY_F64: return {1e-7, 1e-7};
    case ASSAY_F16: return {1e-3, 1e-5};
    default: return {1.6e-2, 1e-5};
  }
}

constexpr std::array<Fill, 2> both_fills{Fill::exact, Fill::uniform};

/// Throws Error where the fields of an operation make no sense.
std::vector<FieldRule> rules_of(const PluginLibrary& library, const PluginOperation& described) {
  std::vector<FieldRule> out;
  std::set<std::string_view> names;
  for (const PluginRule& rule : described.rules) {
    const bool fits = !rule.fallback || (*rule.fallback >= rule.low && *rule.fallback <= rule.high);
    if (rule.name.empty() || !names.insert(rule.name).second || rule.low > rule.high || !fits) {
      throw Error(library.file().string(),
                  fmt::format("the rule of field '{}' of {} makes no sense", rule.name, described.name),
                  "give each field a name of its own, low <= high, and a fallback between them");
    }
    out.push_back({rule.name, rule.low, rule.high, rule.fallback, {}});
  }
  return out;
}

Expected expected(const Problem& problem, const Input& input, const Setting& setting) {
  Expected out;
  const PluginOperation& described = problem.described();
  const auto& tensors = problem.shapes().tensors;
  for (const PluginTensor& tensor : tensors) {
    if (tensor.use == ASSAY_OUTPUT) {
      out.value.push_back(unwritten_values(tensor, std::bit_cast<double>(unwritten)));
    } else {
      const auto& from = is_updated(tensor) ? input.starts : input.read;
      out.value.push_back(values_at(tensor, of(tensor, from).block.payload()));
    }
  }
  const bool bounded = described.has_bound && setting.fill != Fill::exact;
  ask_reference(problem, out.value, bounded ? &out.bound : nullptr);
  out.bound.resize(tensors.size());
  const bool asked = described.relative > 0 || described.absolute > 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const PluginTensor& tensor = tensors[i];
    if (tensor.is_read() || bounded) continue;
    const auto [relative, absolute] = setting.fill == Fill::exact ? std::pair(0.0, 0.0)
                                      : asked ? std::pair(described.relative, described.absolute)
                                              : usual_tolerance(tensor.type);
    for (const double x : out.value[i].numbers) {
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

/// Element-wise equality. Doubles would take 2^53 and 2^53 + 1 for one number.
Agreement same_integers(const PluginTensor& tensor, const std::byte* actual, const std::byte* expected) {
  const Index total = tensor.size();
  Agreement out{.compared = total, .total = total};
  Index wrong = 0;
  for (Index i = 0; i < total; ++i, actual += tensor.width(), expected += tensor.width()) {
    if (std::memcmp(actual, expected, tensor.width()) == 0 || wrong++ > 0) continue;
    out.agrees = false;
    out.worst_error = std::numeric_limits<double>::infinity();
    out.detail = fmt::format("{} is {}, expected {}", Shape{tensor.name, tensor.extents}.element(i),
                             integer_at(tensor.type, actual), integer_at(tensor.type, expected));
  }
  if (wrong > 0) out.detail += fmt::format("; {} of {} compared elements disagree", wrong, total);
  return out;
}

class DescribedContract final : public detail::ErasedContract {
 public:
  /// Throws Error where its fields make no sense.
  DescribedContract(std::shared_ptr<const PluginLibrary> library, std::size_t operation)
      : ErasedContract("", "", 1, both_fills,
                       rules_of(*library, library->content().operations.at(operation))),
        library_(std::move(library)),
        operation_(operation) {
    const PluginOperation& described = library_->content().operations.at(operation);
    name = described.name;
    about = described.about;
    version = described.version;
    if (!described.exact) fills = fills.subspan(1);
  }

  detail::Owned problem(const std::vector<Index>& values) const override {
    return detail::owned([&] { return Problem{library_, operation_, values}; });
  }

  std::vector<Index> values(const void* p) const override { return detail::as<Problem>(p).values; }
  std::vector<std::vector<Index>> corner_cases() const override {
    std::vector<std::vector<Index>> out;
    for (const std::string& problem : library_->content().operations.at(operation_).corner_cases) {
      out.push_back(parse_fields(fmt::format("corner case of {}", name), problem, rules));
    }
    return out;
  }

  double footprint(const void* p) const override {
    double out = 0;
    for (const PluginTensor& tensor : detail::as<Problem>(p).shapes().tensors) {
      const auto size = static_cast<double>(tensor.size());
      out += size * static_cast<double>(tensor.width()) * (is_updated(tensor) ? 2 : 1) + 24 * size;
    }
    return out;
  }

  Cost cost(const void* p) const override {
    const PluginProblem& shapes = detail::as<Problem>(p).shapes();
    // Nobody but the library knows what a right kernel may do without.
    return {.flops = shapes.flops,
            .bytes_read = shapes.bytes_read,
            .bytes_written = shapes.bytes_written,
            .f32 = std::ranges::all_of(
                shapes.tensors, [](const PluginTensor& t) { return !t.is_number() || t.type == ASSAY_F32; })};
  }

  detail::Owned make_input(const void* p, Setting& setting) const override {
    return detail::owned([&] {
      Input out;
      const auto add = [&](const PluginTensor& tensor, std::vector<Held>& to) {
        to.push_back(held(tensor, setting.placement));
        fill(tensor, to.back().block.payload(), setting);
      };
      const auto& tensors = detail::as<Problem>(p).shapes().tensors;
      for (const PluginTensor& tensor : tensors) {
        if (tensor.is_read()) add(tensor, out.read);
      }
      int place = 0;
      for (const PluginTensor& tensor : tensors) {
        if (is_updated(tensor)) {
          add(tensor, out.starts);
          out.starts.back().place = place;
        }
        if (!tensor.is_read()) ++place;
      }
      return out;
    });
  }

  detail::Owned make_output(const void* p, const void* input, const Setting& setting) const override {
    return detail::owned([&] {
      Output out;
      for (const PluginTensor& tensor : detail::as<Problem>(p).shapes().tensors) {
        if (tensor.is_read()) continue;
        out.push_back(held(tensor, setting.placement));
        if (!is_updated(tensor) || tensor.size() == 0) continue;
        const auto start = of(tensor, detail::as<Input>(input).starts).view();
        std::memcpy(out.back().block.payload(), start.data, start.bytes());
      }
      return out;
    });
  }

  std::vector<detail::BufferView> inputs(void* input) const override {
    std::vector<detail::BufferView> out;
    for (const Held& one : detail::as<Input>(input).read) {
      out.push_back(one.view());
      out.back().role = one.tensor->use == ASSAY_CONSTANT ? Role::constant
                        : one.tensor->is_number()         ? Role::changing
                                                          : Role::permuted;
      if (one.tensor->is_number()) out.back().salt = salt;
    }
    for (const Held& one : detail::as<Input>(input).starts) {
      out.push_back(one.view());
      out.back().role = Role::steady;
      out.back().updates = one.place;
    }
    return out;
  }

  std::vector<detail::BufferView> outputs(void* output) const override {
    std::vector<detail::BufferView> out;
    for (const Held& one : detail::as<Output>(output)) out.push_back(one.view());
    return out;
  }

  detail::Owned expect(const void* p, const void* input, Setting& setting) const override {
    return detail::owned([&] { return expected(detail::as<Problem>(p), detail::as<Input>(input), setting); });
  }

  Agreement judge(const void* p, const void*, const void* expected, const void* output) const override {
    Agreement out;
    const auto& [value, bound] = detail::as<Expected>(expected);
    const auto& tensors = detail::as<Problem>(p).shapes().tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const PluginTensor& tensor = tensors[i];
      if (tensor.is_read()) continue;
      const std::byte* data = of(tensor, detail::as<Output>(output)).block.payload();
      const Shape shape{tensor.name, tensor.extents};
      const auto size = static_cast<std::size_t>(tensor.size());
      const auto& numbers = value[i].numbers;
      if (tensor.type == ASSAY_F32) {
        out = out & within(shape, std::span(reinterpret_cast<const float*>(data), size), numbers, bound[i]);
      } else if (tensor.is_number()) {
        out =
            out & within(shape, std::span<const double>(values_at(tensor, data).numbers), numbers, bound[i]);
      } else {
        out = out & same_integers(tensor, data, value[i].integers.data());
      }
    }
    return out;
  }

 private:
  std::shared_ptr<const PluginLibrary> library_;
  std::size_t operation_;
};

/// Calls of the reference, which computes in double precision.
class ReferenceKernel final : public detail::ReadyKernel {
 public:
  ReferenceKernel(const detail::ErasedContract& contract, const Problem& problem, void* input)
      : contract_(contract), problem_(problem), input_(input) {}

  void repeat(void* output, Index calls) override {
    const std::vector<Tensor> tensors = detail::tensors(contract_, input_, output);
    for (Index i = 0; i < calls; ++i) call(tensors);
  }

 private:
  void call(std::span<const Tensor> tensors) const {
    const auto& shapes = problem_.shapes().tensors;
    std::vector<Values> values;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      values.push_back(shapes[i].use == ASSAY_OUTPUT ? unwritten_values(shapes[i], 0)
                                                     : values_at(shapes[i], tensors[i].data));
    }
    problem_.library->reference(problem_.operation, problem_.named_values(), values, nullptr);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (shapes[i].is_read()) continue;
      auto* bytes = static_cast<std::byte*>(tensors[i].data);
      const std::size_t width = shapes[i].width();
      for (const double x : values[i].numbers) {
        store(shapes[i].type, bytes, x);
        bytes += width;
      }
      std::ranges::copy(values[i].integers, bytes);
    }
  }

  const detail::ErasedContract& contract_;
  const Problem& problem_;
  void* input_;
};

/// The reference of an operation as its variant `naive`.
class Reference final : public detail::ErasedVariant {
 public:
  Reference()
      : ErasedVariant(
            {.name = "naive", .summary = "the reference, in double precision: converted there and back"},
            false, true) {}
  std::unique_ptr<detail::ReadyKernel> ready(const detail::ErasedContract& contract, const void* problem,
                                             void* input, const Context&) const override {
    return std::make_unique<ReferenceKernel>(contract, detail::as<Problem>(problem), input);
  }
};

/// Errors of a registry say what is wrong with a name; this says whose it is.
template <class Add>
void add_from(const PluginLibrary& library, const Add& add) {
  try {
    add();
  } catch (const Error& error) {
    throw Error(library.file().string(), error.what(), "");
  }
}

class PluginVariant final : public detail::ErasedVariant {
 public:
  PluginVariant(std::shared_ptr<const PluginLibrary> library, std::size_t kernel)
      : ErasedVariant(library->content().kernels.at(kernel), false, true),
        library_(std::move(library)),
        kernel_(kernel) {}

  std::unique_ptr<detail::ReadyKernel> ready(const detail::ErasedContract& contract, const void* problem,
                                             void* input, const Context& context) const override {
    return library_->ready(kernel_, contract, problem, input, context);
  }
  std::optional<std::string> unfit(const detail::ErasedContract& contract, const void* problem,
                                   const Context& context) const override {
    return library_->unfit(kernel_, detail::named_values(contract, problem), context);
  }

 private:
  std::shared_ptr<const PluginLibrary> library_;
  std::size_t kernel_;
};

void add_all(Registry& registry, const std::shared_ptr<const PluginLibrary>& library) {
  const PluginContent& content = library->content();
  const VariantInfo origin{.code = library->code(), .calls = library->calls()};
  const auto has_naive = [&](const std::string& operation) {
    return std::ranges::any_of(content.kernels, [&](const PluginKernel& kernel) {
      return kernel.operation == operation && kernel.name == "naive";
    });
  };
  for (std::size_t i = 0; i < content.operations.size(); ++i) {
    add_from(*library, [&] {
      const std::string& name = content.operations[i].name;
      const auto known = registry.operations();
      if (std::ranges::find(known, name, &Operation::name) != known.end()) {
        throw Error(name, "two contracts have this name",
                    "rename yours, or leave it away and add kernels to the one there is");
      }
      auto operation = std::make_unique<ErasedOperation>(std::make_unique<DescribedContract>(library, i));
      if (!has_naive(name)) operation->add(std::make_unique<Reference>(), origin);
      static_cast<void>(operation->corner_cases());  // throws for those that are none
      registry.put(std::move(operation));
    });
  }
  for (std::size_t k = 0; k < content.kernels.size(); ++k) {
    const std::string& operation = content.kernels[k].operation;
    const bool own =
        std::ranges::find(content.operations, operation, &PluginOperation::name) != content.operations.end();
    auto variant = std::make_unique<PluginVariant>(library, k);
    // A reference in double precision says nothing of how many digits a kernel may have.
    if (own && !has_naive(operation) && variant->info.precision.empty()) {
      variant->info.precision = "what the bound allows";
    }
    add_from(*library, [&] { registry.add(operation, std::move(variant), origin); });
  }
}

}  // namespace

std::vector<std::filesystem::path> plugins_here() {
  std::vector<std::filesystem::path> out;
  const std::string text = variable(plugins_variable).value_or("");
  for (const std::string_view one : parts_of(text, ':')) {
    if (!one.empty()) out.emplace_back(one);
  }
  return out;
}

void add_plugin(Registry& registry, const std::filesystem::path& file, bool runs_kernels) {
  const auto library = std::make_shared<const PluginLibrary>(file);
  if (runs_kernels) library->load();
  add_all(registry, library);
}

void add_plugin(Registry& registry, const std::string& name, const assay_plugin& given) {
  add_all(registry, std::make_shared<const PluginLibrary>(name, given));
}

}  // namespace assay

#include "core/plugin/library.hpp"

#include "assay/error.hpp"
#include "assay/random.hpp"
#include "core/check/contained.hpp"
#include "core/check/surroundings.hpp"
#include "core/code/calls.hpp"
#include "core/code/elf.hpp"
#include "core/json/fields.hpp"
#include "core/machine/limits.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>
#include <utility>

namespace assay {

ASSAY_FIELDS_OF(PluginTensor, name, type, use, extents, low, high)
ASSAY_FIELDS_OF(PluginProblem, tensors, flops, bytes_read, bytes_written)
ASSAY_FIELDS_OF(PluginRule, name, low, high, fallback)
ASSAY_FIELDS_OF(PluginOperation, name, about, version, rules, corner_cases, relative, absolute, exact,
                has_bound)
void describe(Fields& f, PluginKernel& kernel) {
  ASSAY_FIELDS(f, kernel, operation, name, summary, precision, libraries, threaded);
  static constexpr std::array<std::string_view, 4> sites{"here", "elsewhere", "elsewhere_by_own_clock",
                                                         "here_with_own_clock"};
  f("has_unfit", kernel.has_unfit);
  f("site", kernel.site, sites);
}
ASSAY_FIELDS_OF(PluginContent, provider, revision, operations, kernels)

namespace {

// Types and uses have the same numbers on both sides.
static_assert(static_cast<int>(ElementType::f32) == ASSAY_F32 &&
              static_cast<int>(ElementType::other) == ASSAY_OTHER &&
              static_cast<int>(Tensor::Use::input) == ASSAY_INPUT &&
              static_cast<int>(Tensor::Use::constant) == ASSAY_CONSTANT &&
              static_cast<int>(Tensor::Use::output) == ASSAY_OUTPUT &&
              static_cast<int>(Tensor::Use::updated) == ASSAY_INOUT);

/// Seconds that anything but a kernel may take.
constexpr double patience = 10;
constexpr const char* header = "see assay/plugin.h";

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

std::string in_words(std::span<const NamedValue> values) {
  std::string out;
  for (const auto& [name, value] : values) out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, value);
  return out;
}

/// A problem as the library is told of it.
class CProblem {
 public:
  CProblem(std::span<const NamedValue> values, int threads) {
    for (const auto& [name, value] : values) names_.emplace_back(name);
    for (std::size_t i = 0; i < values.size(); ++i) fields_.push_back({names_[i].c_str(), values[i].value});
    problem_ = {.size = sizeof(assay_problem),
                .threads = threads,
                .field_count = fields_.size(),
                .fields = fields_.data()};
  }
  CProblem(const CProblem&) = delete;
  CProblem& operator=(const CProblem&) = delete;
  const assay_problem* get() const { return &problem_; }

 private:
  std::vector<std::string> names_;
  std::vector<assay_field> fields_;
  assay_problem problem_{};
};

/// Structures of later versions are longer and begin alike; shorter ones than this version's are not known.
template <class T>
void require_whole(const std::filesystem::path& file, const T* structure, const std::string& name) {
  if (structure == nullptr) throw Error(file.string(), fmt::format("{} is NULL", name), header);
  if (structure->size < sizeof(T)) {
    throw Error(file.string(),
                fmt::format("the size of {} is {} and not {}", name, structure->size, sizeof(T)),
                fmt::format("set its `size` to sizeof; {}", header));
  }
}

template <class T>
void require(const std::filesystem::path& file, T* pointer, const std::string& name) {
  if (pointer == nullptr) throw Error(file.string(), fmt::format("{} is NULL", name), header);
}

const assay_plugin* loaded(const std::filesystem::path& file) {
  // Without a slash it would be looked for among the system's libraries.
  const FloatEnvironment before = FloatEnvironment::now();
  void* library = dlopen(std::filesystem::absolute(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string change = before.change();
  before.restore();
  if (library == nullptr) {
    throw Error(file.string(), fmt::format("cannot be loaded: {}", text_of(dlerror())),
                "build it as a shared library for this machine, with all that it needs");
  }
  if (!change.empty()) {
    throw Error(file.string(),
                fmt::format("left the floating-point environment with {} when it was loaded", change),
                "link it without -Ofast and -ffast-math, which do that to every kernel of the program");
  }
  using Entry = const assay_plugin* (*)();
  const auto entry = std::bit_cast<Entry>(dlsym(library, "assay_plugin_v1"));
  if (entry == nullptr) {
    throw Error(file.string(), "is no plug-in: it has no function assay_plugin_v1",
                fmt::format("export it with C linkage; {}", header));
  }
  return entry();
}

Site site_of(const assay_kernel& kernel) {
  if (kernel.synchronize == nullptr)
    return kernel.seconds != nullptr ? Site::here_with_own_clock : Site::here;
  return kernel.seconds != nullptr ? Site::elsewhere_by_own_clock : Site::elsewhere;
}

PluginOperation operation_of(const std::filesystem::path& file, const assay_operation* from,
                             std::size_t place) {
  require_whole(file, from, fmt::format("operation {}", place));
  require(file, from->name, fmt::format("the name of operation {}", place));
  require(file, from->describe, fmt::format("describe of operation {}", from->name));
  require(file, from->reference, fmt::format("reference of operation {}", from->name));
  if (from->rule_count > 0) require(file, from->rules, fmt::format("the rules of {}", from->name));
  if (from->corner_case_count == 0) {
    throw Error(file.string(), fmt::format("operation {} has no corner case", from->name),
                "name problems by which every kernel is checked, such as `m=1,n=17`");
  }
  require(file, from->corner_cases, fmt::format("the list of corner cases of {}", from->name));
  PluginOperation out{.name = from->name,
                      .about = text_of(from->about),
                      .version = from->version,
                      .relative = from->relative,
                      .absolute = from->absolute,
                      .exact = from->exact != 0,
                      .has_bound = from->bound != nullptr};
  for (const assay_rule& rule : std::span(from->rules, from->rule_count)) {
    out.rules.push_back({text_of(rule.name), rule.low, rule.high,
                         rule.optional != 0 ? std::optional(Index{rule.fallback}) : std::nullopt});
  }
  for (const char* problem : std::span(from->corner_cases, from->corner_case_count))
    out.corner_cases.push_back(text_of(problem));
  return out;
}

PluginKernel kernel_of(const std::filesystem::path& file, const assay_kernel* from, std::size_t place) {
  require_whole(file, from, fmt::format("kernel {}", place));
  require(file, from->operation, fmt::format("the operation of kernel {}", place));
  require(file, from->name, fmt::format("the name of kernel {}", place));
  require(file, from->run, fmt::format("run of kernel {}/{}", from->operation, from->name));
  PluginKernel out;
  out.operation = from->operation;
  out.name = from->name;
  out.summary = text_of(from->summary);
  out.precision = text_of(from->precision);
  out.libraries = words(text_of(from->libraries));
  out.threaded = from->threaded != 0;
  out.has_unfit = from->unfit != nullptr;
  out.site = site_of(*from);
  return out;
}

/// Throws Error where the structures make no sense.
PluginContent content_of(const std::filesystem::path& file, const assay_plugin* plugin) {
  require(file, plugin, "what assay_plugin_v1() returns");
  if (plugin->abi != ASSAY_PLUGIN_ABI) {
    throw Error(file.string(),
                fmt::format("was made for version {} of the interface, and this program knows version {}",
                            plugin->abi, ASSAY_PLUGIN_ABI),
                "compile it with the assay/plugin.h of this program");
  }
  require_whole(file, plugin, "the plug-in");
  if (plugin->operation_count > 0) require(file, plugin->operations, "the list of operations");
  if (plugin->kernel_count > 0) require(file, plugin->kernels, "the list of kernels");
  PluginContent out{.provider = text_of(plugin->provider), .revision = text_of(plugin->revision)};
  for (std::size_t i = 0; i < plugin->operation_count; ++i)
    out.operations.push_back(operation_of(file, plugin->operations[i], i));
  for (std::size_t i = 0; i < plugin->kernel_count; ++i)
    out.kernels.push_back(kernel_of(file, plugin->kernels[i], i));
  return out;
}

/// Throws Error unless the tensors of a problem make sense; `where` names library, operation and problem.
void require_sense(const std::string& where, int count, const std::vector<PluginTensor>& tensors) {
  const auto refuse = [&](const std::string& what) { throw Error(where, "describe() " + what, header); };
  if (count < 0) refuse(fmt::format("returned {}: the problem makes no sense to it", count));
  if (count > ASSAY_MOST_TENSORS)
    refuse(fmt::format("returned {} tensors, and {} are the most", count, ASSAY_MOST_TENSORS));
  bool written = false;
  std::set<std::string> names;
  double elements = 0;
  for (const PluginTensor& tensor : tensors) {
    if (tensor.name.empty()) refuse("left a tensor without a name");
    if (!names.insert(tensor.name).second) refuse(fmt::format("named two tensors {}", tensor.name));
    if (tensor.type < ASSAY_F32 || tensor.type > ASSAY_U8)
      refuse(fmt::format("gave {} the type {}, which is none", tensor.name, tensor.type));
    if (tensor.use < ASSAY_INPUT || tensor.use > ASSAY_INOUT)
      refuse(fmt::format("gave {} the use {}, which is none", tensor.name, tensor.use));
    if (tensor.extents.size() > ASSAY_MOST_AXES)
      refuse(fmt::format("gave {} {} axes", tensor.name, tensor.extents.size()));
    double size = 1;  // an extent of 0 counts as 1: the product of the others must be an Index, too
    for (const Index extent : tensor.extents) {
      if (extent < 0) refuse(fmt::format("gave {} an extent of {}", tensor.name, extent));
      size *= static_cast<double>(std::max<Index>(extent, 1));
    }
    elements += size;
    if (elements > 0x1p40) refuse(fmt::format("asks for more than 2^40 elements, with {}", tensor.name));
    if (!tensor.is_number() && tensor.is_read() && tensor.low > tensor.high)
      refuse(fmt::format("gave {} numbers from {} to {}", tensor.name, tensor.low, tensor.high));
    if (written && tensor.is_read()) refuse(fmt::format("named the input {} after an output", tensor.name));
    written = written || !tensor.is_read();
  }
  if (!written) refuse("named no output");
}

/// Tensors as the library is told of them; names in `names`, which is to outlive them.
std::vector<assay_tensor> c_tensors(std::span<const Tensor> tensors, const std::vector<PluginTensor>* shapes,
                                    std::vector<std::string>& names) {
  names.clear();
  for (const Tensor& tensor : tensors) names.emplace_back(tensor.name);
  std::vector<assay_tensor> out;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& from = tensors[i];
    assay_tensor to{};
    to.name = names[i].c_str();
    to.type = static_cast<int32_t>(from.type);
    to.use = static_cast<int32_t>(from.use);
    to.width = static_cast<int64_t>(from.width);
    to.size = from.size;
    to.axes = 1;
    to.extent[0] = from.size;
    to.data = from.data;
    if (shapes != nullptr) {
      const PluginTensor& shape = (*shapes)[i];
      to.axes = static_cast<int32_t>(shape.extents.size());
      std::ranges::copy(shape.extents, to.extent);
      to.low = shape.low;
      to.high = shape.high;
    }
    out.push_back(to);
  }
  return out;
}

/// A kernel that was prepared, until it is released.
class Prepared final : public detail::ReadyKernel {
 public:
  Prepared(const assay_kernel& kernel, const detail::ErasedContract& contract, const void* problem,
           void* input, int threads, const std::vector<PluginTensor>* shapes)
      : kernel_(kernel),
        contract_(contract),
        input_(input),
        problem_(detail::named_values(contract, problem), threads),
        shapes_(shapes) {
    if (kernel_.prepare == nullptr) return;
    tensors_ = c_tensors(detail::tensors(contract_, input_, nullptr), shapes_, names_);
    state_ = kernel_.prepare(problem_.get(), tensors_.data(), tensors_.size());
    prepared_ = true;
  }
  ~Prepared() override {
    if (prepared_ && kernel_.release != nullptr) kernel_.release(state_);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  void repeat(void* output, Index calls) override {
    if (output != output_) tensors_ = c_tensors(detail::tensors(contract_, input_, output), shapes_, names_);
    output_ = output;
    for (Index i = 0; i < calls; ++i) {
      require_zero("run", kernel_.run(state_, problem_.get(), tensors_.data(), tensors_.size()));
    }
    if (kernel_.synchronize != nullptr) require_zero("synchronize", kernel_.synchronize(state_));
  }
  bool waits_for_device() const override { return kernel_.synchronize != nullptr; }
  std::optional<double> own_seconds() override {
    if (kernel_.seconds == nullptr || !waits_for_device()) return std::nullopt;
    // Opened in a first call, at the latest.
    holds_accelerator_ = holds_accelerator_ || holds_accelerator();
    return holds_accelerator_ ? std::optional(kernel_.seconds(state_)) : std::nullopt;
  }

 private:
  void require_zero(const char* function, int code) const {
    if (code == 0) return;
    const char* why = kernel_.failure == nullptr ? nullptr : kernel_.failure(state_);
    if (why != nullptr) throw std::runtime_error(fmt::format("{}() failed: {}", function, why));
    throw std::runtime_error(fmt::format("{}() returned {} and not 0", function, code));
  }
  const assay_kernel& kernel_;
  const detail::ErasedContract& contract_;
  void* input_;
  void* output_ = nullptr;  ///< of the last call
  CProblem problem_;
  const std::vector<PluginTensor>* shapes_;
  void* state_ = nullptr;
  bool prepared_ = false;
  bool holds_accelerator_ = false;
  std::vector<std::string> names_;
  std::vector<assay_tensor> tensors_;
};

}  // namespace

Index PluginTensor::size() const {
  Index out = 1;
  for (const Index extent : extents) out *= extent;
  return out;
}

std::size_t PluginTensor::width() const {
  static constexpr std::size_t widths[] = {4, 8, 2, 2, 4, 8, 1};
  return widths[type];
}

bool is_shared_library(const std::filesystem::path& file) {
  if (file.filename().string().find(".so") == std::string::npos) return false;
  std::ifstream stream(file, std::ios::binary);
  Elf64_Ehdr head{};
  if (!stream.read(reinterpret_cast<char*>(&head), sizeof head)) return false;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_type != ET_DYN) return false;
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    stream.seekg(static_cast<std::streamoff>(head.e_phoff) + i * std::streamoff{head.e_phentsize});
    if (!stream.read(reinterpret_cast<char*>(&part), sizeof part)) return false;
    if (part.p_type == PT_INTERP) return false;  // a program
  }
  return true;
}

PluginProblem plugin_problem_from(const std::string& answer, const std::string& where) {
  auto out = value_from<PluginProblem>(answer, where, header);
  require_sense(where, static_cast<int>(out.tensors.size()), out.tensors);
  for (const double figure : {out.flops, out.bytes_read, out.bytes_written}) {
    if (!std::isfinite(figure) || figure < 0)
      throw Error(where, fmt::format("cost() gave {}", figure), "work is a number from 0 on");
  }
  return out;
}

PluginLibrary::PluginLibrary(std::filesystem::path file) : file_(std::move(file)) {
  if (!std::filesystem::exists(file_)) {
    throw Error(file_.string(), "there is no such file", "name a shared library with kernels");
  }
  const auto answer = [&] { return to_value(content_of(file_, loaded(file_))).dump(); };
  content_ = value_from<PluginContent>(asked("assay_plugin_v1()", answer), file_.string(), header);
}

PluginLibrary::PluginLibrary(std::string name, const assay_plugin& given)
    : file_(std::move(name)), given_(&given), content_(content_of(file_, given_)) {}

void PluginLibrary::load() const {
  if (plugin_ != nullptr) return;
  const assay_plugin* const found = given_ != nullptr ? given_ : loaded(file_);
  static_cast<void>(content_of(file_, found));  // throws where it makes no sense
  plugin_ = found;
}

/// The answer of a process that has the library loaded: this one, if it runs kernels.
std::string PluginLibrary::asked(const std::string& what, const std::function<std::string()>& answer) const {
  if (plugin_ != nullptr || runs_kernels()) return answer();
  std::string out;
  ContainedSteps steps;
  steps.count = 1;
  steps.work = [&](std::size_t step, const StepReporter& reporter) {
    std::string found;
    reporter.call(step, patience, [&] {
      try {
        found = answer();
      } catch (const Error& error) {
        throw OperationFault(error);
      }
    });
    return found;
  };
  steps.take = [&](std::size_t, const std::string& found) { out = found; };
  steps.fail = [&](const FailedStep& failed) {
    throw Error(file_.string(), fmt::format("{} {}", what, failed.failure.reason),
                "nothing of it can be used before that is mended");
  };
  do_steps(steps, {.own_process = true}, {});
  if (out.empty()) throw Stopped{};
  return out;
}

const PluginProblem& PluginLibrary::problem(std::size_t operation, std::span<const NamedValue> values) const {
  const std::string& name = content_.operations.at(operation).name;
  const std::string key = fmt::format("{}/{}", name, in_words(values));
  if (const auto found = problems_.find(key); found != problems_.end()) return found->second;
  const std::string where = fmt::format("{}: {}", file_.string(), key);
  const auto answer = [&] {
    load();
    const assay_operation& own = *plugin_->operations[operation];
    const CProblem problem(values, 1);
    std::vector<assay_tensor> tensors(ASSAY_MOST_TENSORS);
    const int count = own.describe(problem.get(), tensors.data(), tensors.size());
    PluginProblem out;
    for (int i = 0; i < std::min(count, ASSAY_MOST_TENSORS); ++i) {
      const assay_tensor& tensor = tensors[static_cast<std::size_t>(i)];
      if (tensor.axes < 0 || tensor.axes > ASSAY_MOST_AXES) {
        throw Error(where, fmt::format("describe() gave {} {} axes", text_of(tensor.name), tensor.axes),
                    fmt::format("{} are the most", ASSAY_MOST_AXES));
      }
      out.tensors.push_back({text_of(tensor.name),
                             tensor.type,
                             tensor.use,
                             {tensor.extent, tensor.extent + tensor.axes},
                             tensor.low,
                             tensor.high});
    }
    require_sense(where, count, out.tensors);
    for (const PluginTensor& tensor : out.tensors) {
      const double bytes = static_cast<double>(tensor.width()) * static_cast<double>(tensor.size());
      if (tensor.use != ASSAY_OUTPUT) out.bytes_read += bytes;
      if (!tensor.is_read()) out.bytes_written += bytes;
    }
    if (own.cost != nullptr) own.cost(problem.get(), &out.flops, &out.bytes_read, &out.bytes_written);
    return to_value(out).dump();
  };
  return problems_[key] = plugin_problem_from(asked(fmt::format("describe() of {}", key), answer), where);
}

std::optional<std::string> PluginLibrary::unfit(std::size_t kernel, std::span<const NamedValue> values,
                                                const Context& context) const {
  const PluginKernel& known = content_.kernels.at(kernel);
  if (!known.has_unfit) return std::nullopt;
  const auto answer = [&] {
    load();
    const CProblem problem(values, context.threads);
    const char* reason = plugin_->kernels[kernel]->unfit(problem.get());
    return reason == nullptr ? std::string("-") : fmt::format("+{}", reason);
  };
  const std::string what = fmt::format("unfit() of {}/{}/{}", known.operation, known.name, in_words(values));
  const std::string reason = asked(what, answer);
  return reason == "-" ? std::nullopt : std::optional(reason.substr(1));
}

std::unique_ptr<detail::ReadyKernel> PluginLibrary::ready(std::size_t kernel,
                                                          const detail::ErasedContract& contract,
                                                          const void* problem, void* input,
                                                          const Context& context) const {
  load();
  const PluginKernel& known = content_.kernels.at(kernel);
  const auto own = std::ranges::find(content_.operations, known.operation, &PluginOperation::name);
  const std::vector<PluginTensor>* shapes = nullptr;
  if (own != content_.operations.end()) {
    const auto operation = static_cast<std::size_t>(own - content_.operations.begin());
    shapes = &this->problem(operation, detail::named_values(contract, problem)).tensors;
  }
  return std::make_unique<Prepared>(*plugin_->kernels[kernel], contract, problem, input, context.threads,
                                    shapes);
}

void PluginLibrary::reference(std::size_t operation, std::span<const NamedValue> values,
                              std::vector<Values>& results, std::vector<std::vector<double>>* bounds) const {
  load();
  const PluginProblem& shapes = problem(operation, values);
  const assay_operation& own = *plugin_->operations[operation];
  const std::string where =
      fmt::format("{}: {}/{}", file_.string(), content_.operations[operation].name, in_words(values));
  const CProblem problem(values, 1);
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const PluginTensor& shape = shapes.tensors[i];
    Tensor tensor{.name = shape.name,
                  .type = ElementType::f64,
                  .use = static_cast<Tensor::Use>(shape.use),
                  .width = sizeof(double),
                  .size = shape.size(),
                  .data = results[i].numbers.data()};
    if (!shape.is_number()) {
      tensor.type = static_cast<ElementType>(shape.type);
      tensor.width = shape.width();
      tensor.data = results[i].integers.data();
    }
    tensors.push_back(tensor);
  }
  std::vector<std::string> names;
  const auto call = [&](const char* what, auto* function) {
    auto list = c_tensors(tensors, &shapes.tensors, names);
    const int code = function(problem.get(), list.data(), list.size());
    if (code != 0) throw OperationFault(where, fmt::format("{}() returned {} and not 0", what, code), header);
  };
  call("reference", own.reference);
  if (bounds == nullptr || own.bound == nullptr) return;
  bounds->clear();
  for (const Values& result : results) bounds->push_back(result.numbers);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (shapes.tensors[i].is_number()) tensors[i].data = (*bounds)[i].data();
  }
  call("bound", own.bound);
}

std::string PluginLibrary::code() const {
  if (given_ != nullptr) return "";
  const ElfOutcome outcome = read_elf(file_);
  if (!outcome.unreadable.empty()) return "";
  std::string bytes;
  for (const ElfSection& section : outcome.file.sections) {
    // Notes say where the file was built from; sections that only the loader reads follow from the rest.
    if ((section.flags & SHF_ALLOC) == 0 || section.type == SHT_NOTE) continue;
    bytes += section.name;
    bytes += section.bytes;
  }
  return fmt::format("{:016x}", fnv1a(bytes));
}

std::optional<std::vector<Calls>> PluginLibrary::calls() const {
  if (given_ != nullptr) return std::nullopt;
  const ElfOutcome outcome = read_elf(file_);
  if (!outcome.unreadable.empty()) return std::nullopt;
  std::set<std::string> imported;
  for (const ElfSymbol& symbol : outcome.file.dynamic_symbols) {
    if (symbol.section == SHN_UNDEF && !symbol.name.empty()) imported.insert(std::string(symbol.name));
  }
  std::vector<Calls> out = calls_of(imported);
  if (std::vector<std::string> names = replaced_functions(outcome.file); !names.empty()) {
    for (std::string& name : names) name += fmt::format(" ({})", file_.filename().string());
    out.push_back({std::string(replaced_of_c_library), std::move(names)});
  }
  return out;
}

}  // namespace assay

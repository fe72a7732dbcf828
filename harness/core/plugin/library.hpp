/// A shared library with kernels (assay/plugin.h). It is loaded in processes that run kernels; all others ask
/// such a process what it has, and are unharmed by what it does.
#pragma once

#include "assay/detail/erased.hpp"
#include "assay/plugin.h"
#include "assay/registry.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// A tensor of one of its operations, as described for one problem.
struct PluginTensor {
  std::string name;
  int type = ASSAY_F32, use = ASSAY_INPUT;
  std::vector<Index> extents;
  Index low = 0, high = 0;

  Index size() const;
  std::size_t width() const;  ///< bytes of an element
  bool is_read() const { return use == ASSAY_INPUT || use == ASSAY_CONSTANT; }
  bool is_number() const { return type <= ASSAY_BF16; }
};

struct PluginProblem {
  std::vector<PluginTensor> tensors;
  double flops = 0, bytes_read = 0, bytes_written = 0;
};

/// Reads the answer of a process that has the library loaded, which may have spoilt it. Throws Error naming
/// `where` when it makes no sense.
PluginProblem plugin_problem_from(const std::string& answer, const std::string& where);

struct PluginRule {
  std::string name;
  Index low = 1, high = largest_extent;
  std::optional<Index> fallback;
};

/// An operation of its own.
struct PluginOperation {
  std::string name, about;
  int version = 1;
  std::vector<PluginRule> rules;
  std::vector<std::string> corner_cases;
  double relative = 0, absolute = 0;
  bool exact = false, has_bound = false;
};

/// A kernel of it, without source, code and calls.
struct PluginKernel : VariantInfo {
  std::string operation;
  bool has_unfit = false;
};

struct PluginContent {
  std::string provider, revision;
  std::vector<PluginOperation> operations;
  std::vector<PluginKernel> kernels;
};

/// Whether a file is a shared library that is no program.
bool is_shared_library(const std::filesystem::path& file);

class PluginLibrary {
 public:
  /// Throws Error naming the file when it is no plug-in, or one of another version, or makes no sense, and
  /// when it crashes or hangs while it is asked.
  explicit PluginLibrary(std::filesystem::path file);
  /// Belongs to an interpreter that embeds this program. `name` is for messages; `given` must outlive this.
  PluginLibrary(std::string name, const assay_plugin& given);

  const std::filesystem::path& file() const { return file_; }
  const PluginContent& content() const { return content_; }
  /// Loads it into this process, which is one that runs kernels from now on.
  void load() const;

  /// The tensors and the work of a problem of its operation. Throws Error when they make no sense.
  const PluginProblem& problem(std::size_t operation, std::span<const NamedValue> values) const;
  std::optional<std::string> unfit(std::size_t kernel, std::span<const NamedValue> values,
                                   const Context& context) const;
  /// A kernel made ready in this process.
  std::unique_ptr<detail::ReadyKernel> ready(std::size_t kernel, const detail::ErasedContract& contract,
                                             const void* problem, void* input, const Context& context) const;
  /// The values of a tensor: numbers in double precision, or bytes of integers as kernels have them, since
  /// doubles hold integers to 2^53 alone.
  struct Values {
    std::vector<double> numbers;
    std::vector<std::byte> integers;
  };
  /// Replaces the values of each tensor by the result of a reference. Those of what is read, and of what is
  /// updated, are their values before. `bounds` becomes what bound() makes of the numbers.
  void reference(std::size_t operation, std::span<const NamedValue> values, std::vector<Values>& results,
                 std::vector<std::vector<double>>* bounds) const;

  /// A hash of all code and constants in the file; empty when it cannot be read.
  std::string code() const;
  /// The functions that it imports from elsewhere, and those that it has in place of the C library's; nothing
  /// when it cannot be read.
  std::optional<std::vector<Calls>> calls() const;

 private:
  std::string asked(const std::string& what, const std::function<std::string()>& answer) const;

  std::filesystem::path file_;
  const assay_plugin* given_ = nullptr;  ///< and no file
  mutable const assay_plugin* plugin_ = nullptr;
  PluginContent content_;
  mutable std::map<std::string, PluginProblem> problems_;
};

// Kernels from shared libraries, among those of a program.

/// The libraries that the environment names.
std::vector<std::filesystem::path> plugins_here();

/// Adds all operations and kernels of a library, loaded at once where `runs_kernels`. Throws Error naming it.
void add_plugin(Registry& registry, const std::filesystem::path& library, bool runs_kernels);
/// The same of an interpreter that embeds this program.
void add_plugin(Registry& registry, const std::string& name, const assay_plugin& given);

}  // namespace assay

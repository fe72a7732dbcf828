#include "core/plugin/plugins.hpp"

#include "assay/error.hpp"
#include "core/files/this_program.hpp"
#include "core/plugin/described.hpp"
#include "core/plugin/library.hpp"
#include "core/registry/erased_operation.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace assay {
namespace {

/// Errors of a registry say what is wrong with a name; this says whose it is.
template <class Add>
void add_from(const PluginLibrary& library, const Add& add) {
  try {
    add();
  } catch (const Error& error) {
    throw Error(library.file().string(), error.what(), "");
  }
}

detail::VariantWords words_of(const PluginKernel& kernel) {
  return {.name = kernel.name,
          .summary = kernel.summary,
          .precision = kernel.precision,
          .threaded = kernel.threaded};
}

/// A kernel of a library.
class PluginVariant final : public detail::ErasedVariant {
 public:
  PluginVariant(std::shared_ptr<const PluginLibrary> library, std::size_t kernel)
      : ErasedVariant(words_of(library->content().kernels.at(kernel)), false, true),
        library_(std::move(library)),
        kernel_(kernel) {
    info.libraries = library_->content().kernels[kernel_].libraries;
    info.site = library_->content().kernels[kernel_].site;
  }

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
      auto operation = std::make_unique<ErasedOperation>(described_contract(library, i));
      if (!has_naive(name)) operation->add(reference_variant(), origin);
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
  const char* text = std::getenv(plugins_variable);
  for (std::string_view rest = text == nullptr ? "" : text; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(':'));
    if (!one.empty()) out.emplace_back(one);
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
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

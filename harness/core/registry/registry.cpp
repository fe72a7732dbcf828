#include "assay/registry.hpp"

#include "assay/code_table.hpp"
#include "assay/error.hpp"
#include "assay/training.hpp"
#include "core/registry/erased_operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <typeinfo>

namespace assay {
namespace {

const Register* first_register = nullptr;
const RegisterPicks* first_picks = nullptr;
MakeTraining linked_training = nullptr;
const CodeTable* first_table = nullptr;

bool is_word(std::string_view text) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto follows = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && letter(text.front()) && std::ranges::all_of(text, follows);
}

void require_operation_name(std::string_view name) {
  if (is_word(name)) return;
  throw Error(std::string(name), "not a usable operation name",
              "use lower-case letters, digits and '_', starting with a letter");
}

void require_variant_name(std::string_view operation, std::string_view name) {
  const std::size_t at = name.find('@');
  const bool tier_is_word = at == std::string_view::npos || is_word(name.substr(at + 1));
  if (is_word(name.substr(0, at)) && tier_is_word) return;
  throw Error(fmt::format("{}/{}", operation, name), "not a usable variant name",
              "use name or name@tier, each of lower-case letters, digits and '_'");
}

std::vector<Calls> calls_from(std::string_view lines) {
  std::vector<Calls> out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    const std::size_t gap = std::min(line.find(' '), line.size());
    if (out.empty() || out.back().to != line.substr(0, gap))
      out.push_back({std::string(line.substr(0, gap)), {}});
    out.back().names.emplace_back(line.substr(std::min(gap + 1, line.size())));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

/// Source, line, code and calls of what is registered there.
VariantInfo origin_of(const SourceLocation& where) {
  // Clang calls a file that it finds by -I. kernels/./gemm/simd.cpp.
  const std::string source = std::filesystem::path(where.file_name()).lexically_normal().generic_string();
  return {.source = source,
          .line = static_cast<int>(where.line()),
          .code = std::string(CodeTable::code_of(source)),
          .calls = CodeTable::calls_of(source)};
}

/// Steps lead from each of them down to naive.
void require_steps(std::string_view operation, const std::vector<VariantInfo>& variants) {
  for (const VariantInfo& variant : variants) {
    std::string_view below = variant.after;
    for (std::size_t steps = 0; !below.empty() && below != "naive"; ++steps) {
      const auto found = std::ranges::find_if(variants, [&](const VariantInfo& other) {
        return std::string_view(other.name).substr(0, other.name.find('@')) == below;
      });
      if (found == variants.end() || found->after.empty() || steps == variants.size()) {
        throw Error(
            fmt::format("{}/{}", operation, variant.name),
            fmt::format("is a step after '{}', from which no steps lead down to naive", variant.after),
            "name the variant that it takes further, without a tier, and in that one likewise: "
            ".after = \"naive\"");
      }
      below = found->after;
    }
  }
}

}  // namespace

Register::Register(void (*fill)(Registry&), SourceLocation where) noexcept
    : fill_(fill), where_(where), next_(first_register) {
  first_register = this;
}

RegisterPicks::RegisterPicks(std::span<const Pick> picks, SourceLocation where) noexcept
    : picks_(picks), where_(where), next_(first_picks) {
  first_picks = this;
}

Registry Registry::linked() {
  Registry registry;
  for (const Register* r = first_register; r != nullptr; r = r->next_) {
    registry.origin_ = origin_of(r->where_);
    r->fill_(registry);
  }
  registry.origin_ = {};
  for (const RegisterPicks* p = first_picks; p != nullptr; p = p->next_) {
    for (const Pick& pick : p->picks_) {
      require_variant_name(pick.operation, pick.name);
      static_cast<void>(registry.at(pick.operation));  // throws for an unknown one
      dynamic_cast<ErasedOperation&>(**registry.place(pick.operation)).add_pick(pick, origin_of(p->where_));
    }
  }
  registry.validate();
  return registry;
}

void Registry::add(std::string_view operation, std::unique_ptr<detail::ErasedVariant> variant,
                   const VariantInfo& origin) {
  static_cast<void>(at(operation));  // throws for an unknown one
  require_variant_name(operation, variant->info.name);
  (*place(operation))->add(std::move(variant), origin);
}

std::unique_ptr<Operation> Registry::take(std::string_view name) {
  static_cast<void>(at(name));  // throws for an unknown one
  const auto found = place(name);
  std::unique_ptr<Operation> out = std::move(*found);
  operations_.erase(found);
  return out;
}

void Registry::put(std::unique_ptr<Operation> operation) {
  require_operation_name(operation->name());
  const auto at = place(operation->name());
  if (at != operations_.end() && (*at)->name() == operation->name()) {
    *at = std::move(operation);
  } else {
    operations_.insert(at, std::move(operation));
  }
}

void Registry::validate() const {
  for (const auto& operation : operations_) {
    const auto& variants = operation->variants();
    if (variants.empty() || variants.front().name != "naive") {
      throw Error(std::string(operation->name()), "has no variant named 'naive'",
                  "register the reference as 'naive': every speed-up is measured against it");
    }
    require_steps(operation->name(), variants);
  }
}

std::vector<std::unique_ptr<Operation>>::iterator Registry::place(std::string_view name) {
  return std::ranges::lower_bound(operations_, name, {}, &Operation::name);
}

const Operation& Registry::at(std::string_view name) const& {
  const auto found = std::ranges::find(operations_, name, &Operation::name);
  if (found != operations_.end()) return **found;
  std::string known;
  for (const auto& other : operations_)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", other->name());
  throw Error(std::string(name), "unknown operation", "known operations: " + known);
}

std::vector<const Operation*> Registry::operations() const& {
  std::vector<const Operation*> out;
  for (const auto& operation : operations_) out.push_back(operation.get());
  return out;
}

void detail::add_variant(Registry& registry, const ErasedContract& contract,
                         std::unique_ptr<ErasedVariant> variant) {
  require_operation_name(contract.name);
  require_variant_name(contract.name, variant->info.name);
  if (std::ranges::find(registry.operations_, contract.name, &Operation::name) == registry.operations_.end())
    registry.put(std::make_unique<ErasedOperation>(contract));
  Operation* operation = registry.place(contract.name)->get();
  const auto* known = dynamic_cast<ErasedOperation*>(operation);
  const ErasedContract* its_own = known == nullptr ? nullptr : &known->contract();
  // By type: each shared library may have a contract of its own.
  if (its_own == nullptr || typeid(*its_own) != typeid(contract)) {
    throw Error(std::string(contract.name), "two contracts have this name", "rename one of them");
  }
  operation->add(std::move(variant), registry.origin_);
}

TrainingMaker::TrainingMaker(MakeTraining make) noexcept { linked_training = make; }

std::unique_ptr<Training> TrainingMaker::made(const TrainingPlan& plan) {
  if (linked_training != nullptr) return linked_training(plan);
  throw Error("training", "is in no library that this program is linked with",
              "link it with the kernels, as the program `assay` is");
}

CodeTable::CodeTable(std::span<const CodeRow> rows) noexcept : rows_(rows), next_(first_table) {
  first_table = this;
}

const CodeRow* CodeTable::find(std::string_view source) {
  for (const CodeTable* table = first_table; table != nullptr; table = table->next_) {
    const auto found = std::ranges::find(table->rows_, source, &CodeRow::source);
    if (found != table->rows_.end()) return &*found;
  }
  return nullptr;
}

std::string_view CodeTable::code_of(std::string_view source) {
  const CodeRow* row = find(source);
  return row != nullptr ? row->code : std::string_view();
}

std::optional<std::vector<Calls>> CodeTable::calls_of(std::string_view source) {
  const CodeRow* row = find(source);
  if (row == nullptr || !row->calls) return std::nullopt;
  return calls_from(*row->calls);
}

}  // namespace assay

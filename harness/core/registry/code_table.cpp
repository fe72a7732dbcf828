#include "assay/code_table.hpp"

#include <algorithm>

namespace assay {
namespace {

const CodeTable* first_table = nullptr;

}  // namespace

CodeTable::CodeTable(std::span<const CodeRow> rows) noexcept : rows_(rows), next_(first_table) {
  first_table = this;
}

std::string_view CodeTable::code_of(std::string_view source) {
  for (const CodeTable* table = first_table; table != nullptr; table = table->next_) {
    const auto found = std::ranges::find(table->rows_, source, &CodeRow::source);
    if (found != table->rows_.end()) return found->code;
  }
  return {};
}

}  // namespace assay

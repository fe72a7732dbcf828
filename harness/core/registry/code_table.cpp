#include "assay/code_table.hpp"

#include <algorithm>

namespace assay {
namespace {

const CodeTable* first_table = nullptr;

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

}  // namespace

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

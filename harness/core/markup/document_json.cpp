// Documents as data: JSON of a whole, CSV of a table.
#include "core/markup/document.hpp"

#include <fmt/format.h>

#include <cmath>

namespace assay::doc {
namespace {

/// Writes null for an empty text: the value is not known.
Json value_of(const Text& text) {
  if (text.empty()) return nullptr;
  const Amount* number = text.number();
  if (number == nullptr) return text.plain();
  const Interval& value = number->value;
  if (!number->has_interval()) {
    constexpr double exact = 1e15;  // whole numbers below 2^53 are exact
    const bool whole = number->unit.empty() && std::trunc(value.middle) == value.middle;
    if (whole && std::abs(value.middle) < exact) return static_cast<Index>(value.middle);
    return json_number(value.middle);
  }
  return {{"low", json_number(value.low)},
          {"middle", json_number(value.middle)},
          {"high", json_number(value.high)},
          {"coverage", value.coverage}};
}

Json value_of(const Column& column) {
  Json out{{"tag", column.tag}};
  if (!column.name.empty()) out["name"] = column.name;
  if (!column.unit.empty()) out["unit"] = column.unit;
  if (!column.about.empty()) out["about"] = column.about;
  return out;
}

void add(Json& out, const std::vector<Block>& blocks);

void add(Json&, const Paragraph&) {}
void add(Json&, const Picture&) {}

void add(Json& out, const List& list) {
  if (list.tag.empty()) return;
  Json items = Json::array();
  for (const List::Item& item : list.items) items.push_back(item.text.plain());
  out[list.tag] = std::move(items);
}

void add(Json& out, const Table& table) {
  if (table.tag.empty()) return;
  Json columns = Json::array(), rows = Json::array();
  for (const Column& column : table.columns) columns.push_back(value_of(column));
  for (const auto& row : table.rows) {
    Json::Object own;
    for (std::size_t i = 0; i < row.size(); ++i) own.emplace_back(table.columns[i].tag, value_of(row[i]));
    rows.push_back(Json::object(std::move(own)));
  }
  out[table.tag] = Json{{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

void add(Json& out, const Fence& fence) {
  if (!fence.tag.empty()) out[fence.tag] = fence.lines;
}

void add(Json& out, const Details& details) { add(out, details.blocks); }

void add(Json& out, const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    std::visit([&](const auto& one) { add(out, one); }, static_cast<const Block::variant&>(block));
  }
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{:.9g}", value) : ""; }

}  // namespace

Json to_value(const Document& document) {
  Json out = Json::object();
  if (!document.schema.empty()) out["schema"] = document.schema;
  for (const Document::Fact& fact : document.facts) out[fact.tag] = value_of(fact.value);
  if (!document.outcome.empty()) out["outcome"] = document.outcome.plain();
  for (const Section& section : document.sections) add(out, section.blocks);
  return out;
}

std::string to_json(const Document& document) { return json_text(to_value(document)) + "\n"; }

Json schema_of(const Members& members) {
  const auto list_of = [](const Json& items) { return Json{{"type", "array"}, {"items", items}}; };
  const auto map_of = [](const Json& values) {
    return Json{{"type", "object"}, {"additionalProperties", values}};
  };
  const Json text{{"type", "string"}}, number{{"type", "number"}};
  const Json scalar{{"type", Json::array({"number", "string", "null"})}};
  const Json interval{
      {"type", "object"},
      {"properties", {{"low", scalar}, {"middle", scalar}, {"high", scalar}, {"coverage", number}}},
      {"required", Json::array({"low", "middle", "high", "coverage"})},
      {"additionalProperties", false}};
  const Json cell{{"anyOf", Json::array({scalar, interval})}};
  const Json table{{"type", "object"},
                   {"properties", {{"columns", list_of(map_of(text))}, {"rows", list_of(map_of(cell))}}}};
  Json properties{{"schema", {{"const", members.schema}}}, {"outcome", text}};
  std::vector<std::string> required{"schema", "outcome"};
  const auto add = [&](const std::vector<const char*>& names, const Json& type, bool always) {
    for (const char* name : names) {
      properties[name] = type;
      if (always) required.emplace_back(name);
    }
  };
  add(members.facts, cell, true);
  add(members.optional_facts, cell, false);
  add(members.lists, list_of(text), true);
  add(members.optional_lists, list_of(text), false);
  add(members.tables, table, true);
  add(members.optional_tables, table, false);
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", required},
          {"additionalProperties", false}};
}

std::string to_csv(const Table& table) {
  std::vector<bool> has_interval(table.columns.size());
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (const Amount* number = row[i].number(); number != nullptr && number->has_interval())
        has_interval[i] = true;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string& tag = table.columns[i].tag;
    out += (i > 0 ? "," : "") + csv_cell(tag);
    if (has_interval[i]) out += "," + csv_cell(tag + "_low") + "," + csv_cell(tag + "_high");
  }
  out += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Amount* number = row[i].number();
      out +=
          (i > 0 ? "," : "") + (number != nullptr ? csv_number(number->number()) : csv_cell(row[i].plain()));
      if (!has_interval[i]) continue;
      const bool own = number != nullptr && number->has_interval();
      out += "," + (own ? csv_number(number->value.low) : "") + "," +
             (own ? csv_number(number->value.high) : "");
    }
    out += "\n";
  }
  return out;
}

}  // namespace assay::doc

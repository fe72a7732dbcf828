/// Documents as data, and one writer for each format.
///
/// Authors make sections of blocks and rows of cells; a cell is text, code, or a number with its unit. The
/// writers alone escape texts from outside, choose digits and units, fold columns that are all the same into
/// a sentence, and count or fold rows where there are many.
///
///     doc::Table times{.tag = "times", .columns = {{.tag = "variant"}, {.tag = "time", .unit = "s"}}};
///     times.rows.push_back({doc::code(trial.variant), doc::seconds(time_of(trial))});
///     doc::Document out{.title = "Suite " + doc::code(suite), .sections = {{.title = "Times", .blocks =
///     {times}}}}; to_markdown(out);
#pragma once

#include "assay/interval.hpp"
#include "core/json/json.hpp"
#include "core/markup/plot.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// Its words are short and common, hence a namespace of their own.

namespace assay::doc {

/// A number with its unit, which decides how a writer spells it:
///
///   | unit     | value          | as text                                                    |
///   |----------|----------------|------------------------------------------------------------|
///   | s        | seconds        | `412 µs [410, 415]`                                        |
///   | s, fine  | seconds        | `1,283.4 s [1,281.9, 1,284.9]`, digits as the interval resolves |
///   | B        | bytes          | `64.0 KiB`                                                 |
///   | share    | 1 is the whole | `71.3 %`                                                   |
///   | x        | speed-up       | `6.73x [6.68, 6.79]`, with `(slower)` where all lies below 1 |
///   | times    | ratio          | `1.02x [1.01, 1.04]`                                       |
///   | faster   | speed-up       | `2.00x faster [1.98, 2.02]`, `2.00x slower`, `1.00x as fast` |
///   | FLOP/s, B/s | rate        | `7.86 GFLOP/s`, `38.2 GB/s`                                |
///   | /s       | rate           | `820/s`, `1.02 million/s`                                  |
///   | ratio    | any            | `0.250`, three digits                                      |
///   | none, and others | count  | `1,048,576`, followed by the unit                          |
struct Amount {
  Interval value;  ///< without width and coverage where the value alone is known
  std::string unit;

  bool has_interval() const { return value.coverage > 0 || value.low != value.high; }
  double number() const { return value.middle; }
};

Amount amount(double value, std::string unit);
Amount amount(const Interval& value, std::string unit);
inline Amount seconds(double value) { return amount(value, "s"); }
inline Amount seconds(const Interval& value) { return amount(value, "s"); }
inline Amount fine_seconds(const Interval& value) { return amount(value, "s, fine"); }
inline Amount bytes(double value) { return amount(value, "B"); }
inline Amount share(double value) { return amount(value, "share"); }
inline Amount speedup(double value) { return amount(value, "x"); }
inline Amount speedup(const Interval& value) { return amount(value, "x"); }
inline Amount faster(double value) { return amount(value, "faster"); }
inline Amount faster(const Interval& value) { return amount(value, "faster"); }
inline Amount count(double value) { return amount(value, ""); }
/// Floating-point operations per second, or bytes where a call does less than one operation per byte.
Amount throughput(double flops_per_second, double bytes_per_second);

std::string amount_text(const Amount& amount);

/// A line of text: prose, code and numbers. Writers escape it, so that texts from outside need no care.
class Text {
 public:
  enum class Kind { prose, strong, code, amount };
  struct Piece {
    Kind kind = Kind::prose;
    std::string text{};
    Amount number{};

    std::string plain() const { return kind == Kind::amount ? amount_text(number) : text; }
  };

  Text() = default;
  Text(const char* prose) : Text(std::string(prose)) {}
  Text(std::string_view prose) : Text(std::string(prose)) {}
  Text(std::string prose) : Text(Piece{.text = std::move(prose)}) {}
  Text(Amount number) : Text(Piece{.kind = Kind::amount, .number = std::move(number)}) {}
  explicit Text(Piece piece);

  const std::vector<Piece>& pieces() const { return pieces_; }
  bool empty() const { return pieces_.empty(); }
  /// The number, where the text is nothing else.
  const Amount* number() const;
  /// Without marks: for terminals, JSON and comparisons.
  std::string plain() const;

  Text& operator+=(const Text& more);
  friend Text operator+(Text first, const Text& second) { return std::move(first += second); }

 private:
  std::vector<Piece> pieces_;
};

Text code(std::string text);
Text strong(std::string text);
Text joined(const std::vector<Text>& texts, std::string_view between = ", ");
/// Joins texts that are code.
Text codes(const std::vector<std::string>& texts, std::string_view between = ", ");

struct Paragraph {
  enum class Look { usual, soft, quoted };
  Text text;
  Look look = Look::usual;
};
Paragraph soft(Text text);

struct List {
  struct Item {
    Item(Text own) : text(std::move(own)) {}
    Item(Text own, std::vector<Text> lines) : text(std::move(own)), below(std::move(lines)) {}
    Text text;
    std::vector<Text> below;
  };
  std::string tag{};  ///< in JSON; without it the list is in no JSON
  std::vector<Item> items{};
  std::size_t most = 0;  ///< shown; further items are counted. 0: no limit. JSON has all.

  std::size_t shown() const { return most == 0 ? items.size() : std::min(most, items.size()); }
  std::size_t more() const { return items.size() - shown(); }
};
List list_of(const std::vector<std::string>& lines, std::string tag = {});

struct Column {
  std::string tag;         ///< in JSON and CSV
  std::string name{};      ///< in heads; the tag with spaces where it is empty
  std::string unit{};      ///< of its numbers
  std::string about{};     ///< a sentence for legends and schemas
  bool folds = true;       ///< a column whose cells are all equal becomes a sentence below the table
  bool data_only = false;  ///< in JSON and CSV alone
  bool left = false;       ///< aligns numbers left, which stand right otherwise
  bool heads = false;      ///< on a terminal, equal cells become a heading above their rows
  bool wraps = false;      ///< on a terminal, long texts stand below their row
};

/// Columns in a line: `!key = trial; seconds = time [s]: Median of a call.; threads` gives the tags,
/// names, units and sentences of three columns. In front of a tag `!` keeps a column that is all
/// the same, `<` lets its numbers stand left, and `-` shows it in data alone.
std::vector<Column> columns(std::string_view line);

/// A table with more rows is folded away, so that the text after it stays in sight.
inline constexpr std::size_t few_rows = 40;

struct Table {
  std::string tag{};  ///< in JSON; without it the table is in no JSON
  std::vector<Column> columns{};
  std::vector<std::vector<Text>> rows{};
  std::string instead{};  ///< a sentence where there are no rows; nothing is written where it is empty
  std::size_t most = 0;   ///< rows; further rows are counted. 0: all, folded away where they are many
  bool sorts = false;     ///< a page lets readers sort and filter
};

/// Lines that a reader copies.
struct Fence {
  std::string tag{};
  std::vector<std::string> lines{};
  std::string language = "sh";
};

/// A picture of core/markup/plot.hpp, which pages show.
struct Picture {
  std::string name;  ///< of its file, without an ending
  Plot plot;         ///< nothing is shown where it is empty
  std::string caption{};
};

struct Block;

/// Blocks folded away behind a line. Markdown shows details within details unfolded, with the line in bold; a
/// terminal leaves them out.
struct Details {
  Text summary;
  std::vector<Block> blocks;
  bool open = false;
};

struct Block : std::variant<Paragraph, List, Table, Fence, Picture, Details> {
  using variant::variant;
  Block(Text text) : variant(Paragraph{std::move(text)}) {}
  Block(std::string text) : Block(Text(std::move(text))) {}
  Block(const char* text) : Block(Text(text)) {}
};

struct Section {
  std::string tag{};          ///< of its anchor
  Text title{};               ///< empty: the blocks continue the section before
  std::string short_title{};  ///< in the list of sections of a page; the title where it is empty
  std::vector<Block> blocks{};
  bool folded = false;  ///< Markdown folds all of it away, and a terminal leaves it out
  int depth = 0;        ///< below the sections of a document
  enum class In { all, pages, texts } in = In::all;  ///< formats that show it; JSON has all sections
};

struct Document {
  /// A fact about the whole document, such as the commit. It is a member of the JSON.
  struct Fact {
    std::string tag;
    Text value;
  };
  std::string schema{};  ///< of its JSON, as "assay.report/2"
  Text title{};
  std::vector<Fact> facts{};
  Text kicker{};   ///< a soft line above the outcome
  Text outcome{};  ///< the answer, before anything else; bold in Markdown
  std::vector<Section> sections{};
  /// Data of a page besides its own JSON: the id of its element, and the JSON.
  std::vector<std::pair<std::string, std::string>> data{};
};

std::string to_markdown(const Document& document);
/// One file of HTML, with the style and the script of reports/page/; tables sort by value.
Page to_page(const Document& document);
/// Lines of at most 80 columns, but for words that are longer. No details, no folded sections, no pictures.
std::string to_text(const Document& document);
/// Facts, the outcome, and by their tags: tables as {columns, rows}, lists and fences as arrays. A number
/// with an interval is {low, middle, high, coverage}; others are numbers in the unit of their column.
Json to_value(const Document& document);
std::string to_json(const Document& document);

/// The members that documents of one schema have in JSON.
struct Members {
  std::string schema;
  std::vector<const char*> facts{}, optional_facts{}, lists{}, optional_lists{}, tables{}, optional_tables{};
};
/// The JSON Schema of such documents.
Json schema_of(const Members& members);

std::string to_markdown(const std::vector<Block>& blocks);
std::string to_text(const std::vector<Block>& blocks);
/// A line of tags and one for each row. An interval has three cells: tag, tag_low, tag_high.
std::string to_csv(const Table& table);

}  // namespace assay::doc

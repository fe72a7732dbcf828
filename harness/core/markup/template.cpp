#include "core/markup/template.hpp"

#include "assay/error.hpp"
#include "core/markup/embedded_templates.hpp"
#include "core/markup/escaping.hpp"

#include <fmt/format.h>
#include <kainjow/mustache.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Data = kainjow::mustache::data;

std::string at_line(std::string_view where, std::string_view text, std::size_t position) {
  const auto lines = std::ranges::count(text.substr(0, position), '\n');
  return fmt::format("{}:{}", where, lines + 1);
}

/// The name of a tag that is prepared ends with the place that its value stands in.
constexpr char place_mark = '\x01';

std::string with_place(std::string_view name, Place place) {
  return fmt::format("{}{}{}", name, place_mark, static_cast<int>(place));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

/// Lets every tag of a value say where it stands, and leaves the rest to the engine. No line becomes another.
class Preparation {
 public:
  Preparation(std::string_view where, std::string_view text, Escaping escaping)
      : where_(where), text_(text), escaping_(escaping) {
    for (std::size_t open = 0; (open = text_.find("{{", at_)) != std::string_view::npos;) {
      copy_until(open);
      const std::size_t close = text_.find("}}", open + 2);
      if (close == std::string_view::npos) refuse(open, "a tag is not closed", "write {{name}}");
      tag(open, close);
    }
    copy_until(text_.size());
  }
  std::string take() { return std::move(out_); }

 private:
  [[noreturn]] void refuse(std::size_t position, const std::string& what, const char* remedy) const {
    throw Error(at_line(where_, text_, position), what, remedy);
  }

  void copy_until(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (is_line_start(at_)) {
        is_row_ = text_[at_] == '|';
        if (text_.substr(at_).starts_with("```")) is_fenced_ = !is_fenced_;
      }
      if (text_[at_] == '<' && escaping_ == Escaping::html) enter_element(text_.substr(at_));
      out_ += text_[at_];
    }
  }
  bool is_line_start(std::size_t position) const { return position == 0 || text_[position - 1] == '\n'; }

  void enter_element(std::string_view rest) {
    if (rest.starts_with("</script") || rest.starts_with("</style")) html_place_ = Place::html;
    if (rest.starts_with("<style")) html_place_.reset();
    if (rest.starts_with("<script")) html_place_.reset();
    if (rest.starts_with("<script type=\"application/json\"")) html_place_ = Place::json;
  }

  void tag(std::size_t open, std::size_t close) {
    if (is_line_start(open)) is_row_ = false;
    const std::string_view name = trimmed(text_.substr(open + 2, close - open - 2));
    if (name.empty()) refuse(open, "a tag has no name", "write {{name}}");
    at_ = close + 2;
    if (std::string_view("{&=").find(name.front()) != std::string_view::npos) {
      refuse(open, fmt::format("'{{{{{}' writes values as they are or changes how tags are written", name),
             "write {{name}}");
    }
    if (std::string_view("#^/>!").find(name.front()) != std::string_view::npos) {
      out_.append(text_.substr(open, at_ - open));
      note_section(open, name);
    } else {
      value(open, name);
    }
  }

  /// A section that is hidden leaves no line behind where its tags stand on lines of their own. The engine
  /// sees to that for those that are shown: hence the opposite of each, with nothing in it, follows.
  void note_section(std::size_t open, std::string_view name) {
    if (name.front() == '#' || name.front() == '^') sections_.emplace_back(name);
    if (name.front() != '/' || sections_.empty()) return;
    const std::string_view opened = sections_.back();
    sections_.pop_back();
    const bool alone = is_line_start(open) && (at_ == text_.size() || text_[at_] == '\n');
    if (!alone || trimmed(opened.substr(1)) != trimmed(name.substr(1))) return;
    const std::string_view of = trimmed(opened.substr(1));
    out_ += fmt::format("{{{{{}{}}}}}{{{{/{}}}}}", opened.front() == '#' ? '^' : '#', of, of);
  }

  void value(std::size_t open, std::string_view name) {
    const char after = at_ < text_.size() ? text_[at_] : '\n';
    Place place = is_fenced_ ? Place::fence : Place::prose;
    if (escaping_ == Escaping::html) {
      if (!html_place_) {
        refuse(open, fmt::format("'{{{{{}}}}}' stands in a script or a style sheet", name),
               "write it as data, into a script of type application/json");
      }
      if (open > 0 && text_[open - 1] == '=') {
        refuse(open, fmt::format("'{{{{{}}}}}' is an attribute without quotes", name), "put it in quotes");
      }
      place = *html_place_;
    }
    if (place == Place::prose) {
      if (after == '(' || after == '[')
        refuse(open, fmt::format("'{{{{{}}}}}' may become a link", name), "put a space behind it");
      const bool opened = open > 0 && text_[open - 1] == '`', closed = after == '`';
      if (opened != closed) {
        refuse(open, fmt::format("'{{{{{}}}}}' shares its code span", name), "put all of it into one value");
      }
      if (opened) {
        place = is_row_ ? Place::cell_span : Place::span;
        out_.pop_back();  // escaping writes as many backticks as it takes
        ++at_;
      } else if (is_row_) {
        place = Place::cell;
      }
    }
    out_ += "{{" + with_place(name, place) + "}}";
  }

  std::string_view where_, text_;
  Escaping escaping_;
  std::size_t at_ = 0;
  bool is_row_ = false, is_fenced_ = false;
  std::vector<std::string_view> sections_;         // that are open, with what opened them
  std::optional<Place> html_place_ = Place::html;  ///< none where no value may stand
  std::string out_;
};

Data data_of(const Json& value) {
  if (value.is_string()) return value.text().empty() ? Data(false) : Data(value.text());
  if (value.is_boolean()) return Data(value.boolean());
  if (value.is_number()) return Data(value.dump());
  if (value.is_array()) {
    Data out(Data::type::list);
    for (const Json& item : value.items()) out.push_back(data_of(item));
    return out;
  }
  if (!value.is_object() || value.empty()) return Data(false);
  Data out(Data::type::object);
  for (const auto& [name, member] : value.members()) out[name] = data_of(member);
  return out;
}

/// The values that tags find, and the place that the tag in hand stands in.
class Values : public kainjow::mustache::basic_context<std::string> {
 public:
  Values(std::string_view where, const Json& values, Escaping escaping)
      : where_(where), escaping_(escaping), all_(data_of(values)) {
    stack_.push_back(&all_);
  }

  std::string escape(const std::string& text) const { return escaped(text, place_); }

  void push(const Data* data) override { stack_.push_back(data); }
  void pop() override { stack_.pop_back(); }

  const Data* get(const std::string& tag) const override {
    const std::size_t mark = tag.find(place_mark);
    if (mark != std::string::npos) place_ = static_cast<Place>(std::atoi(tag.c_str() + mark + 1));
    const std::string name = tag.substr(0, mark);
    if (name == "more?") return more_items() ? &yes_ : &no_;
    const bool asks = name.ends_with('?');
    const Data* found = find(asks ? name.substr(0, name.size() - 1) : name);
    if (found == nullptr) {
      throw Error(std::string(where_), fmt::format("'{{{{{}}}}}' has no value", name),
                  "use a name that the report has");
    }
    if (mark != std::string::npos && (found->is_list() || found->is_object())) {
      throw Error(std::string(where_), fmt::format("'{{{{{}}}}}' is no single value", name),
                  "name one of those that it holds");
    }
    if (found->is_list()) note_items(*found);
    return !asks ? found : found->is_false() || found->is_empty_list() ? &no_ : &yes_;
  }

  const Data* get_partial(const std::string& name) const override {
    const auto known = partials_.find(name);
    if (known != partials_.end()) return &known->second;
    const auto found = embedded_templates.find(name);
    if (found == embedded_templates.end()) {
      throw Error(std::string(where_), fmt::format("there is no template '{}'", name),
                  "name a file of reports/templates");
    }
    return &partials_.emplace(name, Data(Preparation(name, found->second, escaping_).take())).first->second;
  }

 private:
  void note_items(const Data& list) const {
    for (const Data& item : list.list_value()) items_.insert(&item);
    if (list.is_non_empty_list()) last_.insert(&list.list_value().back());
  }

  /// Whether an item follows the innermost one that is in hand.
  bool more_items() const {
    const auto item = std::ranges::find_if(stack_.rbegin(), stack_.rend(),
                                           [&](const Data* one) { return items_.contains(one); });
    return item != stack_.rend() && !last_.contains(*item);
  }

  const Data* find(const std::string& name) const {
    if (name == ".") return stack_.back();
    const std::size_t dot = name.find('.');
    for (auto place = stack_.rbegin(); place != stack_.rend(); ++place) {
      const Data* found = (*place)->get(name.substr(0, dot));
      for (std::size_t at = dot; found != nullptr && at != std::string::npos;) {
        const std::size_t next = name.find('.', at + 1);
        found = found->get(name.substr(at + 1, next - at - 1));
        at = next;
      }
      if (found != nullptr) return found;
    }
    return nullptr;
  }

  std::string_view where_;
  Escaping escaping_;
  Data all_;
  const Data yes_{true}, no_{false};
  mutable std::set<const Data*> items_, last_;
  std::vector<const Data*> stack_;
  mutable std::map<std::string, Data> partials_;
  mutable Place place_ = Place::prose;
};

std::string without_gaps(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace

std::string rendered(std::string_view where, std::string_view text, const Json& values, Escaping escaping) {
  const std::string prepared = Preparation(where, text, escaping).take();
  kainjow::mustache::mustache engine(prepared);
  Values context(where, values, escaping);
  engine.set_custom_escape([&](const std::string& value) { return context.escape(value); });
  std::string out = engine.is_valid() ? engine.render(context) : "";
  if (!engine.is_valid()) {
    const std::string& message = engine.error_message();
    const std::size_t position = message.rfind(" at ");
    throw Error(position == std::string::npos
                    ? std::string(where)
                    : at_line(where, prepared, std::strtoul(message.c_str() + position + 4, nullptr, 10)),
                message.substr(0, position), "mend the template");
  }
  return escaping == Escaping::markdown ? without_gaps(std::move(out)) : out;
}

std::string document(std::string_view name, const Json& values) {
  const auto found = embedded_templates.find(name);
  if (found == embedded_templates.end()) {
    throw Error(std::string(name), "is no template of this program", "look into reports/templates");
  }
  return rendered("reports/templates/" + std::string(name), found->second, values,
                  name.ends_with(".md") ? Escaping::markdown : Escaping::html);
}

}  // namespace assay

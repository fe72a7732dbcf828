#include "app/option_list.hpp"

#include "assay/error.hpp"
#include "core/files/this_program.hpp"
#include "core/plugin/library.hpp"
#include "core/text/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <utility>

namespace assay {
namespace {

namespace fs = std::filesystem;

struct Texts {
  std::vector<std::string> operator()(const bool* value) const {
    return *value ? std::vector<std::string>{""} : std::vector<std::string>{};
  }
  std::vector<std::string> operator()(const std::string* value) const { return words(*value); }
  std::vector<std::string> operator()(const fs::path* value) const { return words(value->string()); }
  std::vector<std::string> operator()(const std::vector<fs::path>* values) const {
    std::vector<std::string> out;
    for (const fs::path& value : *values) out.push_back(value.string());
    return out;
  }
  std::vector<std::string> operator()(const WordChoice& choice) const {
    return words(std::string(choice.words[choice.chosen()]));
  }
  template <class T>
  std::vector<std::string> operator()(const std::optional<T>* value) const {
    return *value ? std::vector{fmt::format("{}", **value)} : std::vector<std::string>{};
  }
  template <class T>
  std::vector<std::string> operator()(const std::vector<T>* values) const {
    return words(fmt::format("{}", fmt::join(*values, ",")));
  }
  template <class T>
  std::vector<std::string> operator()(const T* value) const {
    return {fmt::format("{}", *value)};
  }

 private:
  static std::vector<std::string> words(std::string text) {
    return text.empty() ? std::vector<std::string>{} : std::vector{std::move(text)};
  }
};

[[noreturn]] void refuse(const Option& option, const std::string& text, const std::string& what) {
  throw Error(option.name(), fmt::format("\"{}\" is {}", text, what), "give such a value");
}

template <std::integral T>
T number(const Option& option, const std::string& text, T*) {
  const auto out = number_from<T>(text);
  const OptionRule& rule = option.rule;
  if (out && std::cmp_greater_equal(*out, rule.low) &&
      (!std::in_range<Index>(*out) || std::cmp_less_equal(*out, rule.high))) {
    return *out;
  }
  if (rule.low == OptionRule{}.low) refuse(option, text, "no whole number");
  if (rule.high == OptionRule{}.high)
    refuse(option, text, fmt::format("no whole number of at least {}", rule.low));
  refuse(option, text, fmt::format("no whole number from {} to {}", rule.low, rule.high));
}

double number(const Option& option, const std::string& text, double*) {
  const auto out = number_from<double>(text);
  const OptionRule& rule = option.rule;
  if (out && *out >= rule.least && *out <= rule.most) return *out;
  if (rule.least == OptionRule{}.least) refuse(option, text, "no finite number");
  refuse(option, text, fmt::format("no number from {:g} to {:g}", rule.least, rule.most));
}

std::string number(const Option&, const std::string& text, std::string*) { return text; }

std::string typed_words(const WordChoice& choice, std::string_view between) {
  std::vector<std::string_view> words(choice.words.begin(), choice.words.end());
  std::erase(words, "");
  return fmt::format("{}", fmt::join(words, between));
}

struct Read {
  const Option& option;
  const std::vector<std::string>& texts;

  void operator()(bool* value) const { *value = texts.back() == "true"; }
  void operator()(std::string* value) const { *value = text(); }
  void operator()(fs::path* value) const { *value = text(); }
  void operator()(std::vector<fs::path>* values) const { values->assign(texts.begin(), texts.end()); }
  void operator()(const WordChoice& choice) const {
    const auto found = std::ranges::find(choice.words, texts.back());
    if (found == choice.words.end() || found->empty()) {
      refuse(option, texts.back(), "none of " + typed_words(choice, ", "));
    }
    choice.choose(static_cast<std::size_t>(found - choice.words.begin()));
  }
  template <class T>
  void operator()(std::optional<T>* value) const {
    *value = number(option, texts.back(), static_cast<T*>(nullptr));
  }
  template <class T>
  void operator()(std::vector<T>* values) const {
    values->clear();
    for (const std::string& text : texts) values->push_back(number(option, text, static_cast<T*>(nullptr)));
  }
  template <class T>
  void operator()(T* value) const {
    *value = number(option, texts.back(), value);
  }

 private:
  std::string text() const {
    return option.rule.joined ? fmt::format("{}", fmt::join(texts, " ")) : texts.back();
  }
};

/// The option with one of its texts, in words of a shell. What begins with a dash would be taken for an
/// option.
std::string typed(const Option& option, const std::string& text) {
  if (option.is_positional()) return shell_word(text);
  if (option.holds<bool*>()) return option.name();
  const bool is_short = !option.name().starts_with("--");
  const char* const between = !text.starts_with('-') ? " " : is_short ? "" : "=";
  return option.name() + between + shell_word(text);
}

}  // namespace

std::string_view Option::long_name() const {
  const std::size_t begin = names.find("--");
  if (begin == std::string_view::npos) return names;
  return names.substr(begin, names.find(',', begin) - begin);
}

bool Option::is_named(std::string_view name) const { return std::ranges::count(all_names(), name) > 0; }

std::string Option::type() const {
  if (holds<bool*>()) return "";
  if (const auto* choice = std::get_if<WordChoice>(&value)) return typed_words(*choice, "|");
  if (holds<std::string*, std::vector<std::string>*>()) return "TEXT";
  if (holds<fs::path*, std::vector<fs::path>*>()) return "PATH";
  const auto with_range = [](const char* name, auto low, auto high, bool bounded) {
    return bounded
               ? fmt::format("{} in [{:g} - {:g}]", name, static_cast<double>(low), static_cast<double>(high))
               : std::string(name);
  };
  if (holds<double*, std::optional<double>*, std::vector<double>*>())
    return with_range("FLOAT", rule.least, rule.most, rule.least != OptionRule{}.least);
  return with_range("INT", rule.low, rule.high,
                    rule.low != OptionRule{}.low && rule.high != OptionRule{}.high);
}

std::vector<std::string> Option::texts() const {
  const auto* const words = std::get_if<std::vector<std::string>*>(&value);
  const bool one_by_one = rule.several || rule.behind_dashes;
  return one_by_one && words != nullptr ? **words : std::visit(Texts{}, value);
}

void Option::read(const std::vector<std::string>& texts) {
  if (rule.not_empty && std::ranges::count(texts, "") > 0)
    throw Error(name(), "is empty: is a variable unset?", "give it a value, or leave the option away");
  std::visit(Read{*this, texts}, value);
}

bool gives(const std::vector<std::string>& arguments, std::string_view names) {
  return std::ranges::any_of(parts_of(names, ','), [&](std::string_view name) {
    const bool is_short = !name.starts_with("--");
    return std::ranges::any_of(arguments, [&](const std::string& argument) {
      return argument.starts_with(name) &&
             (is_short || argument.size() == name.size() || argument[name.size()] == '=');
    });
  });
}

std::string first_unusual(const OptionList& options, const OptionList& usual) {
  for (std::size_t i = 0; i < options.all().size(); ++i) {
    if (options.all()[i].texts() != usual.all()[i].texts()) return options.all()[i].name();
  }
  return "";
}

std::string command_text(const std::string& verb, const OptionList& options, const OptionList& usual) {
  std::string out = called_as();
  for (const std::filesystem::path& plugin : plugins_here())
    out += " --plugin " + shell_word(plugin.string());
  out += " " + verb;
  for (std::size_t i = 0; i < options.all().size(); ++i) {
    const Option& option = options.all()[i];
    const std::vector<std::string> texts = option.texts();
    if (!option.rule.repeated || texts == usual.all()[i].texts()) continue;
    if (option.rule.behind_dashes) out += " --";
    for (const std::string& text : texts) out += " " + typed(option, text);
  }
  return out;
}

}  // namespace assay

#include "app/output.hpp"

#include "app/terminal.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace assay {

void put(const std::string& where, const std::string& words, const std::string& json) {
  put_document(where, may_show_colours(STDOUT_FILENO) ? painted(words) : words, json);
}

void put_document(const std::string& where, const std::string& text, const std::string& json) {
  if (where == "-") {
    fmt::print("{}\n", json);
    return;
  }
  fmt::print("{}", text);
  if (!where.empty()) write_file(where, json + "\n");
}

std::string ending(const std::string& next, const Outcome& outcome) {
  std::string out;
  for (const std::string& line : outcome.besides) out += line + "\n";
  if (!next.empty()) out += "next: " + next + "\n";
  return out + outcome.line() + "\n";
}

namespace {

void make_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(folder.string(), "cannot be made: " + failure.message(), "name another folder");
}

}  // namespace

std::filesystem::path write_report(const Report& report, const std::filesystem::path& folder) {
  const auto here = folder / report.results.machine.key;
  make_folder(here);
  write_file(here / (report.results.suite + ".md"), to_markdown(report));
  write_file(here / (report.results.suite + ".json"), to_json(report) + "\n");
  write_file(here / (report.results.suite + ".csv"), to_csv(report));
  return here / (report.results.suite + ".md");
}

void write_page(const PageFiles& files, const std::function<Page()>& make) {
  if (files.html.empty() && files.svg.empty()) return;
  const Page page = make();
  if (!files.html.empty()) write_file(files.html, page.html);
  if (files.svg.empty()) return;
  make_folder(files.svg);
  for (const auto& [name, plot] : page.plots) write_file(files.svg / (name + ".svg"), svg_file(plot));
}

}  // namespace assay

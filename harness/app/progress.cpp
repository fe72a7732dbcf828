#include "app/progress.hpp"

#include "app/interrupt.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

namespace assay {
namespace {

constexpr std::size_t line_width = 79;
constexpr double seconds_between_plain_lines = 30;
constexpr double seconds_between_rewrites = 0.1;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool rewrites_lines() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && std::getenv("CI") == nullptr && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace

Progress::Progress() : terminal_(rewrites_lines()), started_(now()), shown_(started_) {}

Progress::~Progress() {
  if (terminal_) fmt::print(stderr, "\r{:{}}\r", "", line_width);
}

Hooks Progress::hooks() {
  return {.progress = [this](std::string_view what) { show(what); }, .stop = interrupted};
}

void Progress::show(std::string_view what) {
  now_running(what);
  const double time = now();
  const double wait = terminal_ ? seconds_between_rewrites : seconds_between_plain_lines;
  if (time - shown_ < wait) return;
  shown_ = time;
  const std::string line = fmt::format("{:4.0f} s  {}", time - started_, what);
  if (terminal_) {
    fmt::print(stderr, "\r{:{}.{}}", line, line_width, line_width);
    std::fflush(stderr);
  } else {
    fmt::print(stderr, "{}\n", line);
  }
}

}  // namespace assay

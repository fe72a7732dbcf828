/// The contract `logging`: lines of a training log that are in the file when the loop ends, whichever way it
/// ends.
#pragma once

#include "assay/registry.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

namespace logging {

inline constexpr Index line_bytes = 32;

/// Writes "batch  <number> loss <loss>" and a new line, line_bytes in all.
void format(Index batch, float loss, char* to);

/// A file without a name in $TMPDIR, or /tmp. Throws Error where it cannot be made or written.
class LogFile {
 public:
  LogFile();
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  void clear();
  /// Hands whole lines to the system, in one call.
  void append(std::string_view lines);
  /// All lines that were handed over.
  std::string text() const;

 private:
  int file_ = -1;
  Index size_ = 0;
};

/// Thrown to end a loop before its time.
struct Stopped {};

}  // namespace logging

/// Batches 1, 2, … have a line each, of which those of every `every`-th batch are wanted, and that of the
/// last one. text[lines, 32] holds the wanted lines as they are in the file when the call returns; the file
/// may have others.
///
/// The loop ends after `batches`, or in batch `fails` where that is not 0: an exception leaves the loop after
/// this batch had its line. What a crash needs is its last line; a line that was formatted and waits in a
/// buffer at that moment has to reach the file. (A process that is killed leaves what the system was handed,
/// which is all that is asked of a log; a machine that loses its power is another matter.)
///
/// Same bytes. loss[batches] is f32.
///
/// Source: the practice of asynchronous logging with a flush at the end: Python,
/// logging.handlers.QueueHandler and MemoryHandler.
struct Logging : FromParts<Logging> {
  static constexpr std::string_view name = "logging";
  static constexpr std::string_view about =
      "the lines of every so many batches and of the last one, in a file even if the loop ends by an "
      "exception";

  struct Problem {
    Index batches = 1;
    Index every = 1;
    Index fails = 0;  ///< the batch in which the loop ends, counted from 1; 0: none
    static constexpr auto fields() {
      return std::tuple{field("batches", &Problem::batches), field("every", &Problem::every),
                        option("fails", &Problem::fails, 0, 0, largest_extent)};
    }
    bool stops_early() const { return fails > 0 && fails <= batches; }
    /// The number of batches that run.
    Index last() const { return stops_early() ? fails : batches; }
    bool wants(Index batch) const { return batch % every == 0 || batch == last(); }
    Index lines() const { return (last() + every - 1) / every; }
  };
  struct Input {
    Buffer<float> loss;
    std::shared_ptr<logging::LogFile> file;
    static constexpr auto parts() { return std::tuple{part("loss", &Input::loss, &Problem::batches)}; }
  };
  struct Output {
    Buffer<std::uint8_t> text;
    static constexpr auto parts() {
      return std::tuple{part("text", &Output::text, &Problem::lines, logging::line_bytes)};
    }
  };
  struct Expected {
    std::string text;
  };
  static constexpr std::array fills{Fill::uniform};

  static std::vector<Problem> corner_cases();
  static Input make_input(const Problem&, Setting&);
  static Expected expect(const Problem&, const Input&, Setting&);
  static Agreement judge(const Problem&, const Input&, const Expected&, const Output&);
  static Cost cost(const Problem&);
  /// A writer of lines may be one.
  static bool has_helpers(const Problem&) { return true; }
};

namespace logging {

/// The loop: calls log(batch, loss) for each batch, and throws Stopped in the one that fails.
template <class Log>
void train(const Logging::Problem& p, const Logging::Input& in, Log& log) {
  for (Index batch = 1; batch <= p.batches; ++batch) {
    log(batch, in.loss[batch - 1]);
    if (batch == p.fails) throw Stopped{};
  }
}

/// Copies the wanted lines of the file to the output; those that are not there stay what they were.
void read_back(const Logging::Problem& problem, const LogFile& file, Logging::Output& output);

}  // namespace logging

extern template class detail::TypedOperation<Logging>;

}  // namespace assay

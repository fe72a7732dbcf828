// The idea: the loop notes only the wanted lines, a batch and its loss, and another thread formats and writes
// them, 64 at a time. However the loop ends, the destructor of the log writes the remaining notes and the
// line of the last batch, which no one knew to be the last.

#include "assay/ops/logging.hpp"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace assay::logging {
namespace {

struct Note {
  Index batch = 0;
  float loss = 0;
};

/// Formats and writes on a thread of its own. finish() throws an error of the file.
class Writer {
 public:
  explicit Writer(std::size_t most) {
    noted.reserve(most);
    notes_.reserve(most);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  /// The notes of the loop, which are to be written next.
  std::vector<Note> noted;

  /// Takes them and leaves an empty list. Waits until earlier notes are written.
  void take(LogFile& file) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return notes_.empty(); });
    notes_.swap(noted);
    file_ = &file;
    changed_.notify_all();
  }
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return notes_.empty(); });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void serve(const std::stop_token& stop) {
    std::vector<char> text;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, stop, [&] { return !notes_.empty(); });
      if (notes_.empty()) return;
      text.resize(notes_.size() * static_cast<std::size_t>(line_bytes));
      lock.unlock();
      std::exception_ptr failure;
      try {
        char* to = text.data();
        for (const Note& note : notes_) {
          format(note.batch, note.loss, to);
          to += line_bytes;
        }
        file_->append({text.data(), text.size()});
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure) failure_ = failure;
      notes_.clear();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Note> notes_;
  LogFile* file_ = nullptr;
  std::exception_ptr failure_;
  std::jthread thread_;  ///< last member: it ends, and writes what is left, before the others
};

/// The notes of a loop.
class Log {
 public:
  Log(Index every, Writer& writer, LogFile& file) : every_(every), writer_(writer), file_(file) {}
  ~Log() {
    if (last_.batch % every_ != 0) writer_.noted.push_back(last_);
    if (!writer_.noted.empty()) writer_.take(file_);
  }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void operator()(Index batch, float loss) {
    last_ = {batch, loss};
    if (batch % every_ != 0) return;
    writer_.noted.push_back(last_);
    if (writer_.noted.size() == most) writer_.take(file_);
  }

  static constexpr std::size_t most = 64;  ///< two pages of lines per system call

 private:
  Index every_;
  Writer& writer_;
  LogFile& file_;
  Note last_;
};

const Register registered{[](Registry& r) {
  const auto prepare = [](const Logging::Problem& p, const auto&, const Context&) {
    const auto writer = std::make_shared<Writer>(Log::most + 1);
    return [p, writer](const auto& in, auto& out) {
      in.file->clear();
      try {
        Log log(p.every, *writer, *in.file);
        train(p, in, log);
      } catch (const Stopped&) {  // the log has written its tail by now
      }
      writer->finish();
      read_back(p, *in.file, out);
    };
  };
  r.add<Logging>(
      {.name = "every_nth",
       .summary = "wanted lines noted, formatted and written by another thread, the tail at the end",
       .helpers = [](const Logging::Problem&) -> Index { return 1; },
       .prepare = prepare});
}};

}  // namespace
}  // namespace assay::logging

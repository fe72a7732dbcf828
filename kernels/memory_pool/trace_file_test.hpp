// For tests: a small trace on disk that its object removes, and the results of variants on it.
#pragma once

#include "assay/check.hpp"
#include "assay/registry.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace assay::memory_pool {

class TraceFile {
 public:
  explicit TraceFile(const std::string& lines) {
    std::ofstream(path_, std::ios::binary) << "id,lower,upper,size\n" << lines;
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() { std::filesystem::remove(path_); }

  /// Returns the checks of every variant that `filter` selects.
  std::vector<CornerCheck> checks(const std::string& filter) const {
    static const Registry registry = Registry::linked();
    return check_file(registry, filter, path_, 42, {});
  }
  /// The figures of the variant that `filter` selects, in words, or why it has none.
  std::string figures(const std::string& filter) const {
    const auto found = checks(filter);
    if (found.size() != 1) return filter + " selects " + std::to_string(found.size());
    const Agreement& only = found.front().agreement;
    return only.agrees ? in_words(only.figures) : only.detail;
  }

 private:
  static std::string name() {
    static int count = 0;
    return "assay_pool_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ".csv";
  }
  std::filesystem::path path_ = std::filesystem::temp_directory_path() / name();
};

}  // namespace assay::memory_pool

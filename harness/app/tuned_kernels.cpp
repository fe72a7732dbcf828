#include "app/tuned_kernels.hpp"

#include "assay/caches.hpp"
#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/machine.hpp"
#include "core/json/fields.hpp"
#include "core/machine/build_info.hpp"
#include "core/text/wrapped.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <system_error>

namespace assay {
namespace {

/// Why a file is not used, or nothing.
std::string unfit(const TunedKernels& tuned) {
  if (tuned.machine != this_machine().key) return fmt::format("it is of the machine {}", tuned.machine);
  if (tuned.version != build_info().version) return fmt::format("it is of version {}", tuned.version);
  return "";
}

}  // namespace

void describe(Fields& f, TunedKernels& tuned) {
  f.schema("assay.kernels/1");
  f("machine", tuned.machine);
  f("version", tuned.version);
  f("caches", tuned.caches, {.about = "bytes of the first, the second and the last cache: 32K/512K/32M"});
  f("date", tuned.date);
  f("command", tuned.command);
}

std::filesystem::path tuned_kernels_file() {
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / "kernels.json";
}

std::string use_tuned_kernels() {
  if (std::getenv(caches_variable) != nullptr) {
    static_cast<void>(caches());
    return "";
  }
  const std::filesystem::path file = tuned_kernels_file();
  std::error_code failed;
  if (file.empty() || !std::filesystem::exists(file, failed)) return "";
  std::string why;
  try {
    const auto tuned =
        value_from<TunedKernels>(read_file(file), file.string(), "run `assay tune kernels` again");
    why = unfit(tuned);
    if (why.empty()) {
      static_cast<void>(cache_sizes_from(tuned.caches, file.string() + ": caches"));
      setenv(caches_variable, tuned.caches.c_str(), 1);
      return "";
    }
  } catch (const Error& fault) {
    why = fault.what();
  }
  return fmt::format("{} is ignored: {}; `assay tune kernels` writes it anew\n", file.string(), why);
}

std::string keep_tuned(const std::string& caches, const Circumstances& made) {
  const std::filesystem::path file = tuned_kernels_file();
  if (file.empty()) return "There is no folder to keep it in: set HOME, or XDG_CACHE_HOME.\n";
  if (caches.empty()) {
    std::error_code failed;
    const bool removed = std::filesystem::remove(file, failed);
    if (failed) throw Error(file.string(), failed.message(), "remove it: it is not what was chosen");
    return removed ? wrapped("Removed " + file.string(), terminal_width) + "\n" : "";
  }
  std::filesystem::create_directories(file.parent_path());
  TunedKernels tuned{.machine = made.machine.key,
                     .version = build_info().version,
                     .caches = caches,
                     .date = made.date,
                     .command = made.command};
  write_file(file, json_text(to_value(tuned)) + "\n");
  return wrapped("Kept for later runs in " + file.string(), terminal_width) + "\n";
}

}  // namespace assay

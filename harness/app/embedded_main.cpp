// The program as a library: see assay_main() in assay/plugin.h.

#include "assay/pipeline.hpp"
#include "assay/plugin.h"
#include "core/files/this_program.hpp"
#include "core/plugin/library.hpp"

#include <array>
#include <csignal>

namespace {

/// Handlers that the program changes, as they were before: the caller goes on afterwards.
class KeptHandlers {
 public:
  KeptHandlers() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &kept_[i]);
  }
  ~KeptHandlers() {
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &kept_[i], nullptr);
  }
  KeptHandlers(const KeptHandlers&) = delete;
  KeptHandlers& operator=(const KeptHandlers&) = delete;

 private:
  static constexpr std::array signals{SIGINT,  SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGCHLD,
                                      SIGSEGV, SIGBUS,  SIGFPE, SIGILL,  SIGABRT};
  std::array<struct sigaction, signals.size()> kept_{};
};

std::vector<std::string> words_until_null(const char* const* words) {
  std::vector<std::string> out;
  for (; words != nullptr && *words != nullptr; ++words) out.emplace_back(*words);
  return out;
}

}  // namespace

int assay_main(const assay_plugin* plugin, const char* const* self, int argc, const char* const* argv) {
  const KeptHandlers handlers;
  const auto registry = [plugin] {
    assay::Registry out = assay::Registry::linked();
    if (plugin != nullptr) {
      const std::string name = plugin->provider == nullptr ? "the caller" : plugin->provider;
      assay::add_plugin(out, name, *plugin);
    }
    return out;
  };
  const auto run = [registry](const std::vector<std::string>& arguments) {
    std::vector<const char*> words{"assay"};
    for (const std::string& argument : arguments) words.push_back(argument.c_str());
    return assay::run_command_line(static_cast<int>(words.size()), words.data(), registry);
  };
  assay::set_embedding({words_until_null(self), run});
  return assay::run_command_line(argc, argv, registry);
}

#include "app/measuring.hpp"
#include "app/output.hpp"

#include "assay/error.hpp"
#include "core/check/passed_corners.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

namespace assay {
namespace {

void touch(const std::string& file) {
  if (std::ofstream(file, std::ios::app)) return;
  throw Error(file, "cannot be made, and a test runner waits for it",
              "check the folder named by GTEST_SHARD_STATUS_FILE or TEST_SHARD_STATUS_FILE");
}

}  // namespace

std::optional<Shard> shard_of_this_process(const ShardOptions& options) {
  const ShardChoice choice = chosen_shard(options, std::getenv);
  for (const std::string& file : choice.status_files) touch(file);
  if (choice.shard) {
    print_visible(stderr, "shard {} of 0 to {}, by {}\n", choice.shard->index, choice.shard->count - 1,
                  choice.source);
  }
  return choice.shard;
}

void say_undivided(const std::string& what) {
  const ShardChoice choice = chosen_shard({}, std::getenv);
  if (!choice.shard || choice.shard->count == 1) return;
  print_visible(stderr, "{} are not divided among shards: this process takes all, whatever {} say\n", what,
                choice.source);
}

void require_whole(const std::optional<Shard>& shard, const std::string& option, const std::string& remedy) {
  if (!shard || shard->count == 1) return;
  throw Error(option, fmt::format("speaks for the whole suite, and this is one of {} shards", shard->count),
              remedy);
}

RunRequest run_request(const SelectionOptions& selection, int launches, const Registry& registry) {
  return {.suite = load_suite(selection.suite, registry),
          .selection = {.filter = selection.filter, .threads = selection.threads, .seed = selection.seed},
          .measuring = {.launches = launches, .seed = selection.seed, .time_limit = selection.time_limit},
          .checking = {.own_process = true, .time_limit = selection.time_limit},
          .passed_corners = usual_passed_corners(),
          .command = command_of("run", RunOptions{.selection = selection, .launches = launches})};
}

}  // namespace assay

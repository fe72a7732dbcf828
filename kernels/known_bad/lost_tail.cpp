// Common when logging is made cheap: lines are gathered and written when there are enough of them, and once
// more after the loop. An exception leaves the loop past that line, and the log ends before what went wrong.

#include "assay/ops/logging.hpp"
#include "assay/registry.hpp"

#include <string>

namespace assay {
namespace {

void run(const Logging::Problem& p, const Logging::Input& in, Logging::Output& out) {
  std::string gathered;
  in.file->clear();
  const auto log = [&](Index batch, float loss) {
    if (batch % p.every != 0 && batch != p.batches) return;
    char line[logging::line_bytes];
    logging::format(batch, loss, line);
    gathered.append(line, sizeof line);
    if (gathered.size() < 16 * sizeof line) return;
    in.file->append(gathered);
    gathered.clear();
  };
  try {
    logging::train(p, in, log);
    in.file->append(gathered);
  } catch (const logging::Stopped&) {
  }
  logging::read_back(p, *in.file, out);
}

const Register registered{[](Registry& r) {
  r.add<Logging>(
      {.name = "lost_tail",
       .summary = "lines gathered, and written when the loop ends well",
       .known_bad = "buffered logs without a flush on the way out: the last lines before a crash are lost",
       .run = run});
}};

}  // namespace
}  // namespace assay

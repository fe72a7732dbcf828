#include "bench/programs/revision.hpp"

#include "assay/error.hpp"
#include "assay/files.hpp"
#include "assay/random.hpp"
#include "bench/programs/layouts.hpp"
#include "core/machine/processor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view bundle_list = "bundle.json";

BundledSide copied(const Programs& side, const fs::path& folder, std::string_view name) {
  BundledSide out{.side = side, .links = {}};
  fs::create_directories(folder / name);
  for (const fs::path& link : side.links) {
    const std::string file = fmt::format("{}/{}-{}", name, link.filename().string(), out.links.size());
    fs::copy_file(link, folder / file);
    out.links.push_back({file, fnv1a(read_file(folder / file))});
  }
  return out;
}

Programs side_from(const BundledSide& bundled, const fs::path& folder) {
  Programs out = bundled.side;
  for (const BundledLink& link : bundled.links) {
    const fs::path file = folder / link.file;
    std::error_code no_name;
    if (!fs::is_regular_file(file, no_name)) {
      throw Error(file.string(), "is missing from its bundle", "copy the whole folder, or prepare it again");
    }
    if (fnv1a(read_file(file)) != link.hash) {
      throw Error(file.string(), "is not what was put into the bundle", "prepare it again");
    }
    if (access(file.c_str(), X_OK) != 0) {
      throw Error(file.string(), "may not be executed", fmt::format("chmod +x {}/*/*", folder.string()));
    }
    out.links.push_back(fs::absolute(file));
  }
  return out;
}

void require_able(const BundleFile& bundle, const fs::path& list) {
  const Processor here = this_processor();
  std::vector<std::string> missing;
  for (const std::string& one : bundle.instruction_sets) {
    if (!has(here.features, one)) missing.push_back(one);
  }
  if (missing.empty()) return;
  throw Error(list.string(),
              fmt::format("was prepared on a processor that can do more than this one: {} has {}",
                          bundle.processor, fmt::join(missing, " ")),
              "prepare it on a machine of this kind");
}

}  // namespace

void describe(Fields& f, BundledLink& link) {
  f.only<BundledLink>();
  f("file", link.file);
  f("hash", link.hash, {.low = 0});
}

void describe(Fields& f, BundledSide& bundled) {
  Programs& side = bundled.side;
  f.only<BundledSide>();
  f("name", side.name);
  f("commit", side.commit, {.terse = true});
  f("layout_remark", side.layout_remark, {.terse = true, .about = "why there are no more links"});
  f("foreign", side.foreign, {.terse = true, .about = "of another project than assay"});
  f("arguments", side.arguments, {.terse = true});
  f("differences", side.differences, {.terse = true, .about = "of the build from that of the head"});
  f("links", bundled.links, {.about = "the first one as it was built"});
  if (f.reads() && bundled.links.empty()) f.refuse("links", "is empty");
}

void describe(Fields& f, BundleFile& bundle) {
  f.only<BundleFile>();
  f.schema("assay.bundle/1");
  ASSAY_FIELDS(f, bundle, processor, instruction_sets, base, head);
  describe(f, bundle.use);
  f("target", bundle.target, {.terse = true});
}

void write_bundle(const fs::path& folder, const Bundle& bundle) {
  if (fs::exists(folder) && !fs::exists(folder / bundle_list) &&
      (!fs::is_directory(folder) || !fs::is_empty(folder))) {
    throw Error(folder.string(), "is there and holds no bundle", "name a folder that is new or empty");
  }
  fs::path part = folder;
  part += ".part";
  const UnfinishedFolder unfinished(part);
  const Processor processor = this_processor();
  const BundleFile file{.processor = processor.model,
                        .instruction_sets = processor.features,
                        .base = copied(bundle.base, part, "base"),
                        .head = copied(bundle.head, part, "head"),
                        .use = bundle.use,
                        .target = bundle.target};
  write_file(part / bundle_list, json_text(to_value(file)) + "\n");
  fs::remove_all(folder);
  fs::rename(part, folder);
}

Bundle read_bundle(const fs::path& folder) {
  const fs::path list = folder / bundle_list;
  if (!fs::exists(list)) {
    throw Error(folder.string(), "holds no bundle", "make one: assay prepare --base REVISION -o DIRECTORY");
  }
  const auto file = value_from<BundleFile>(read_file(list), list.string(), "prepare it again");
  require_able(file, list);
  return {side_from(file.base, folder), side_from(file.head, folder), file.use, file.target};
}

}  // namespace assay

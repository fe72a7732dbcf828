#include "training/job/trace.hpp"

#include "assay/error.hpp"
#include "training/job/scratch_file_test.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// An event of an allocator as Kineto writes it; `device` is 0 for the processor.
std::string memory_event(double bytes, int address, int device = 1, int reserved = 0) {
  return fmt::format(
      R"({{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1,
    "ts": 5, "args": {{"Total Reserved": {}, "Total Allocated": 3, "Bytes": {}, "Addr": {}, "Device Id": {},
    "Device Type": {}, "Ev Idx": 7}}}})",
      reserved, bytes, address, device == 0 ? -1 : 0, device);
}

std::string memory_trace(const std::vector<std::string>& events) {
  return fmt::format(R"({{"schemaVersion": 1, "traceEvents": [{}]}})", fmt::join(events, ","));
}

MemoryEvents read_events(const std::string& content) {
  const ScratchFile file(content);
  return read_memory_events(file.path());
}

auto reading(const std::vector<std::string>& events) {
  return [content = memory_trace(events)] { read_events(content); };
}

auto refuses(const std::string& text) { return ThrowsMessage<Error>(HasSubstr(text)); }

std::vector<std::vector<Index>> lives_of(const MemoryEvents& events) {
  std::vector<std::vector<Index>> out;
  for (const BlockLife& block : events.lives) out.push_back({block.bytes, block.start, block.end});
  return out;
}

TEST(MemoryEvents, BecomeLivesInSteps) {
  const std::string other =
      R"({"ph": "X", "name": "aten::add", "ts": 1, "dur": 2, "args": {"Bytes": 9, "Addr": 9}})";
  const std::string content =
      memory_trace({memory_event(64, 1000, 1, 256), other, memory_event(-32, 500, 1, 512),
                    memory_event(128, 2000), memory_event(-64, 1000), memory_event(16, 1000)});
  for (const std::string& bytes : {content, gzipped(content)}) {
    const MemoryEvents events = read_events(bytes);
    EXPECT_EQ(events.device, "accelerator 0");
    // 64 from step 1 to 4; 32 that were there before and go at 2; 128 that stay; 16 at the address of the
    // first.
    EXPECT_THAT(lives_of(events), ElementsAre(ElementsAre(64, 1, 4), ElementsAre(32, 0, 2),
                                              ElementsAre(128, 3, 6), ElementsAre(16, 5, 6)));
    EXPECT_EQ(events.most_live, 64 + 128);
    EXPECT_EQ(events.most_reserved, 512);
    EXPECT_EQ(events.most_allocated, 3);
    EXPECT_EQ(events.from_before, 1);
    EXPECT_EQ(events.never_freed, 2);
    EXPECT_EQ(requests_csv(events), "id,lower,upper,size\n0,1,4,64\n1,0,2,32\n2,3,6,128\n3,5,6,16\n");
  }
}

TEST(MemoryEvents, AreOrderedByTheirTimes) {
  const auto at = [](int time, const std::string& event) {
    std::string out = event;
    return out.replace(out.find("\"ts\": 5"), 7, "\"ts\": " + std::to_string(time));
  };
  // One thread gives a block twice, which another frees in between.
  const MemoryEvents events =
      read_events(memory_trace({at(1, memory_event(8, 1)), at(3, memory_event(8, 1)),
                                at(2, memory_event(-8, 1)), at(4, memory_event(-8, 1))}));
  EXPECT_THAT(lives_of(events), ElementsAre(ElementsAre(8, 1, 2), ElementsAre(8, 3, 4)));
}

TEST(MemoryEvents, AreThoseOfTheDeviceThatNeedsMost) {
  const MemoryEvents events = read_events(memory_trace(
      {memory_event(8, 1, 0), memory_event(4, 1, 1), memory_event(8, 2, 1), memory_event(8, 3, 0)}));
  EXPECT_EQ(events.device, "the processor");
  EXPECT_THAT(events.others, ElementsAre("accelerator 0"));
  EXPECT_EQ(events.lives.size(), 2U);
}

TEST(MemoryEvents, OfNoUseAreRefused) {
  EXPECT_THAT(reading({}), refuses("holds no event [memory]"));
  EXPECT_THAT(reading({memory_event(0, 1)}), refuses("gives no block of any bytes"));
  EXPECT_THAT(reading({memory_event(64, 1), memory_event(64, 1)}),
              refuses("event 2 of [memory]: gives address 1 a second time"));
  EXPECT_THAT(reading({memory_event(64, 1), memory_event(-32, 1)}),
              refuses("frees 32 bytes at address 1, where 64 were given"));
  EXPECT_THAT(reading({memory_event(1.5, 1)}), refuses("must be a whole number"));
  EXPECT_THAT(reading({memory_event(0x1p62, 1)}), refuses("must be a whole number below 2^62"));
  EXPECT_THAT(reading({memory_event(0x1p61, 1), memory_event(0x1p61, 2)}), refuses("sum to 2^62 bytes"));
  EXPECT_THAT(reading({R"({"name": "[memory]", "args": {"Bytes": 4, "Device Type": 0}})"}),
              refuses("PyTorch 1.10"));
  EXPECT_THAT(reading({R"({"name": "[memory]", "args": {"deep": {"Bytes": 4, "Addr": 1}}})"}),
              refuses("no number \"Bytes\""));
}

TEST(MemoryEvents, AreManyInNoTime) {
  std::vector<std::string> events;
  for (int i = 0; i < 20000; ++i) {
    events.push_back(memory_event(64 + i, 1000 + i % 50));
    events.push_back(memory_event(-64 - i, 1000 + i % 50));
  }
  EXPECT_EQ(read_events(memory_trace(events)).lives.size(), 20000U);
}

}  // namespace
}  // namespace assay

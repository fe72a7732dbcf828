#include "core/json/fields.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <array>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

enum class Color { red, green };
constexpr std::array<std::string_view, 2> colors{"red", "green"};

struct Part {
  std::string name;
  double weight = 0;
  bool operator==(const Part&) const = default;
};

void describe(Fields& f, Part& part) {
  f("name", part.name);
  f("weight", part.weight, {.above = 0});
}

struct Thing {
  bool flag = true;
  int count = 3;
  std::uint64_t seed = 1;
  double share = 0.5;
  std::string text = "t";
  std::vector<Index> sizes;
  std::vector<double> times;
  std::map<std::string, double> weights;
  Color color = Color::red;
  Part part{"p", 1};
  std::optional<Part> spare;
  std::vector<Part> parts;
  std::vector<Part> by_name;
  std::string remark;
  std::optional<double> limit;
};

void describe(Fields& f, Thing& thing) {
  f.schema("test.thing/1");
  f.only<Thing>();
  f("flag", thing.flag, {.optional = true, .about = "up or down"});
  f("count", thing.count, {.optional = true, .low = 0, .high = 9});
  f("seed", thing.seed, {.optional = true});
  f("share", thing.share, {.optional = true, .least = 0, .most = 1});
  f("text", thing.text);
  f("sizes", thing.sizes, {.optional = true, .low = 1});
  f("times", thing.times, {.optional = true, .above = 0});
  f("weights", thing.weights, finite_number);
  f("color", thing.color, colors, {.optional = true});
  f("part", thing.part, {.optional = true});
  f("spare", thing.spare);
  f("parts", thing.parts, {.optional = true});
  f("by_name", thing.by_name, {.optional = true});
  f("remark", thing.remark, {.terse = true});
  f("limit", thing.limit, {.null = true});
  f.derived("twice", 2 * thing.count);
  f.unique("parts", thing.parts, &Part::name, "is a second");
}

Thing read(const std::string& text) {
  const Json file = parse_json(text, "t.json");
  return value_from<Thing>(JsonField(file, "t.json", "mend it"));
}

/// A file whose one member beside the required ones is this.
std::string with(const std::string& member) {
  return R"({"schema": "test.thing/1", "text": "x", "weights": {}, )" + member + "}";
}

TEST(FieldDescriptions, GiveBackWhatTheyWrote) {
  Thing thing{.flag = false,
              .count = 7,
              .seed = ~std::uint64_t{0},
              .share = 0.25,
              .sizes = {1, 2},
              .times = {0.1},
              .weights = {{"a", -1}},
              .color = Color::green,
              .spare = Part{"s", 2},
              .parts = {{"q", 3}, {"r", 4}}};
  const Json written = to_value(thing);
  const Thing back = read(written.dump());
  EXPECT_EQ(to_value(back), written);
  EXPECT_EQ(back.seed, thing.seed);
  EXPECT_EQ(back.weights.at("a"), -1);
  EXPECT_EQ(back.color, Color::green);
  EXPECT_EQ(back.spare, thing.spare);
  EXPECT_THAT(back.parts, ElementsAre(Part{"q", 3}, Part{"r", 4}));
  EXPECT_EQ(written.at("twice"), 14);
  EXPECT_TRUE(written.at("limit").is_null());
  EXPECT_FALSE(written.contains("remark")) << "it is empty";
}

TEST(FieldDescriptions, LeaveWhatIsMissingOrNullAsItIs) {
  const Thing thing = read(with(R"("count": null, "twice": "whatever")"));
  EXPECT_TRUE(thing.flag);
  EXPECT_EQ(thing.count, 3);
  EXPECT_FALSE(thing.spare);
  EXPECT_FALSE(thing.limit);
}

TEST(FieldDescriptions, NameThePlaceOfWhatCannotBe) {
  for (const auto& [member, message] : std::map<std::string, std::string>{
           {R"("count": 10)", "t.json: count: is 10, must be an integer from 0 to 9\n  mend it"},
           {R"("count": 1.5)", "count: is 1.5, must be an integer"},
           {R"("seed": -1)", "seed: is -1, must be an integer from 0"},
           {R"("share": 2)", "share: is 2, must be a number from 0 to 1"},
           {R"("share": "nan")", "share: is nan, must be a number from 0 to 1"},
           {R"("flag": 1)", "flag: is a number, must be true or false"},
           {R"("sizes": [3, 0])", "sizes[1]: is 0, must be an integer from 1"},
           {R"("times": [1, -1])", "times[1]: is -1, must be a number above 0"},
           {R"("color": "blue")", "color: is \"blue\", must be one of red, green"},
           {R"("part": {"name": "x"})", "part: has no \"weight\""},
           {R"("parts": [{"name": "x", "weight": 0}])", "parts[0].weight: is 0, must be a number above 0"},
           {R"("parts": [{"name": "x", "weight": 1}, {"name": "x", "weight": 2}])",
            "parts[1]: is a second x"},
           {R"("parts": 3)", "parts: is a number, must be an array"},
           {R"("parts": [3])", "parts[0]: is a number, must be an object"},
           {R"("coumt": 3)", "t.json: has an unknown key \"coumt\"; is it \"count\""}}) {
    EXPECT_THAT([text = with(member)] { read(text); }, ThrowsMessage<Error>(HasSubstr(message))) << member;
  }
  EXPECT_THAT([] { read(R"({"schema": "test.thing/1", "text": "x", "weights": {"a": "inf"}})"); },
              ThrowsMessage<Error>(HasSubstr("weights.a: is inf, must be a finite number")));
  EXPECT_THAT([] { read(R"({"schema": "test.thing/2"})"); },
              ThrowsMessage<Error>(HasSubstr("is of schema test.thing/2; this program reads test.thing/1")));
  EXPECT_THAT([] { read(R"({"schema": "test.thing/1"})"); },
              ThrowsMessage<Error>(HasSubstr("has no \"text\"")));
}

TEST(FieldDescriptions, TellTheirSchema) {
  const Json schema = schema_of<Thing>(), &fields = schema.at("properties");
  EXPECT_EQ(schema.at("type"), "object");
  EXPECT_EQ(schema.at("additionalProperties"), false);
  EXPECT_EQ(schema.at("required").dump(), R"(["schema","text","weights"])");
  EXPECT_EQ(fields.at("schema").dump(), R"({"const":"test.thing/1"})");
  EXPECT_EQ(fields.at("flag").dump(), R"({"type":"boolean","description":"up or down"})");
  EXPECT_EQ(fields.at("count").dump(), R"({"type":"integer","minimum":0,"maximum":9})");
  EXPECT_EQ(fields.at("seed").dump(), R"({"type":"integer","minimum":0})");
  EXPECT_EQ(fields.at("share").dump(), R"({"type":"number","minimum":0.0,"maximum":1.0})");
  EXPECT_EQ(fields.at("times").dump(),
            R"({"type":"array","items":{"type":"number","exclusiveMinimum":0.0}})");
  EXPECT_EQ(fields.at("weights").dump(), R"({"type":"object","additionalProperties":{"type":"number"}})");
  EXPECT_EQ(fields.at("color").dump(), R"({"enum":["red","green"]})");
  EXPECT_EQ(fields.at("spare"), schema_of<Part>());
  EXPECT_EQ(fields.at("parts").at("items"), schema_of<Part>());
}

struct Shelf {
  std::vector<Part> parts;
};

void describe(Fields& f, Shelf& shelf) { f.keyed("parts", shelf.parts, &Part::name, &Part::weight); }

TEST(FieldDescriptions, KeepTheOrderOfListsThatStandByTheirKeys) {
  const Json file = parse_json(R"({"parts": {"z": 1, "a": 2}})", "t.json");
  const auto shelf = value_from<Shelf>(JsonField(file, "t.json", ""));
  EXPECT_THAT(shelf.parts, ElementsAre(Part{"z", 1}, Part{"a", 2}));
  EXPECT_EQ(to_value(shelf), file);
}

/// Neither unknown keys nor maps are searched for key by key.
TEST(FieldDescriptions, ReadHostileObjectsInOneGo) {
  std::string weights;
  for (int i = 0; i < 100'000; ++i) weights += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\": 1";
  EXPECT_EQ(read(R"({"schema": "test.thing/1", "text": "x", "weights": {)" + weights + "}}").weights.size(),
            100'000U);
  EXPECT_THROW(read("{" + weights + "}"), Error);
}

}  // namespace
}  // namespace assay

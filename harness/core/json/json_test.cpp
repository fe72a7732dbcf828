#include "core/json/json.hpp"

#include "assay/error.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string again(const std::string& text) { return parse_json(text, "x.json").dump(); }

TEST(JsonTexts, SurviveARoundTrip) {
  for (const char* text :
       {"null", "true", "0", "-1", "[]", "{}", R"({"a":[1,2.5,"b"],"c":{"d":null}})", "9223372036854775807",
        "-9223372036854775808", "18446744073709551615", "0.1", "1e-300", "5e-324", "1.7976931348623157e+308",
        R"("\u0001\"\\ä€😀")", R"(["",[[]],{"":0}])"}) {
    EXPECT_EQ(again(text), text);
    EXPECT_EQ(parse_json(again(text), "x.json"), parse_json(text, "x.json"));
  }
  EXPECT_EQ(again(R"("\ud83d\ude00")"), R"("😀")");
}

TEST(JsonNumbers, KeepEveryBit) {
  for (const double value : {0.1 + 0.2, 1e-4 / 3, 5e-324, -0.0, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(parse_json(Json(value).dump(), "x.json").number(), value);
  }
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(parse_json(Json(most).dump(), "x.json").unsigned_integer(), most);
  EXPECT_FALSE(Json(most).index()) << "no signed integer is as large";
  EXPECT_FALSE(Json(-1).unsigned_integer());
}

TEST(JsonNumbers, ThatJsonLacksAreWords) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(json_number(infinity).dump(), R"("inf")");
  EXPECT_EQ(json_number(-infinity).dump(), R"("-inf")");
  EXPECT_EQ(json_number(std::nan("")).dump(), R"("nan")");
  const Json file = parse_json(R"(["inf", "-inf", "nan", "nan "])", "x.json");
  const auto items = JsonField(file, "x.json", "").items();
  EXPECT_EQ(items[0].number(), infinity);
  EXPECT_EQ(items[1].number(), -infinity);
  EXPECT_TRUE(std::isnan(items[2].number()));
  EXPECT_THROW(items[3].number(), Error);
}

TEST(JsonNumbers, AreEqualByValue) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_EQ(Json(std::uint64_t{7}), Json(7));
  EXPECT_FALSE(Json(-1) == Json(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_FALSE(Json(0) == Json(false));
}

TEST(JsonTexts, ThatAreNoUtf8AreWrittenAllTheSame) {
  EXPECT_EQ(parse_json(Json("a\xff").dump(), "x.json").text(), "a\xef\xbf\xbd");
}

TEST(JsonTexts, SayWhereTheyAreWrong) {
  const auto parsing = [](const char* text) { return [text] { parse_json(text, "x.json"); }; };
  EXPECT_THAT(parsing("{\n \"a\": oops}"),
              ThrowsMessage<Error>(HasSubstr("x.json: invalid JSON at line 2, column 7")));
  EXPECT_THAT(parsing("1e999"),
              ThrowsMessage<Error>(HasSubstr("x.json: is 1e999 at line 1, column 1, beyond")));
  EXPECT_THAT(parsing("{\"a\": {}, \"b\": [1, {\"c\": [],\n \"d\": [2, -1e999]}]}"),
              ThrowsMessage<Error>(HasSubstr("x.json: b[1].d[1]: is -1e999 at line 2, column 11")));
  const std::string digits(100'000, '9');
  EXPECT_THAT([&] { parse_json(digits, "x.json"); },
              ThrowsMessage<Error>(HasSubstr("is " + digits.substr(0, 40) + " at line 1, column 1,")));
  EXPECT_THAT(parsing("{\"a\": [1,"), ThrowsMessage<Error>(HasSubstr("ends in the middle, after 9 bytes")));
  EXPECT_THAT(parsing(" \n"), ThrowsMessage<Error>(HasSubstr("x.json: is empty")));
  EXPECT_THAT(parsing("{} {}"), ThrowsMessage<Error>(HasSubstr("invalid JSON at line 1, column 4")));
}

TEST(JsonObjects, KeepTheOrderOfTheirKeysAndTheLastValueOfEach) {
  EXPECT_EQ(again(R"({"b": 1, "a": 2, "b": 3, "c": 4, "a": 5})"), R"({"b":3,"c":4,"a":5})");
}

TEST(JsonObjects, KeepTheFirstValueOfEachKeyWhereThatIsAskedFor) {
  EXPECT_EQ(parse_json(R"({"b": 1, "a": 2, "b": 3, "a": 5})", "x", RepeatedKey::first).dump(),
            R"({"b":1,"a":2})");
}

TEST(JsonMender, MakesJsonOfWhatOtherProgramsWriteForIt) {
  const std::string text =
      "[NaN, -nan(ind),1.#INF ,-Infinity, 12.5e3, \"NaN\", true, \"a\nb\tc\", "
      "\"C:\\x\\u12\\n\\\\\\\"\\u00e9\"]";
  const std::string json =
      R"([null, null,null ,null, 12.5e3, "NaN", true, "a b c", "C:\\x\\u12\n\\\"\u00e9"])";
  EXPECT_EQ(JsonMender().mended(text), json);
  JsonMender piece_by_piece;
  std::string out;
  for (const char c : text) out += piece_by_piece.mended({&c, 1});
  EXPECT_EQ(out, json);
}

/// A search for each key among those before it would make 5 * 10^9 comparisons: minutes, without optimization
/// hours.
TEST(JsonObjects, MayHaveMoreKeysThanAnyoneWouldSearchOneByOne) {
  std::string text = "{";
  for (int i = 0; i < 100'000; ++i) text += "\"key " + std::to_string(i) + "\": 0,";
  text += "\"key 0\": 1}";
  const Json object = parse_json(text, "x.json");
  EXPECT_EQ(object.size(), 100'000U);
  EXPECT_EQ(object.at("key 0"), 1);
}

TEST(JsonTexts, StandOnOneLineWhereTheyFit) {
  EXPECT_EQ(json_text({{"a", 1}, {"b", Json::array({1, 2})}}), R"({"a":1,"b":[1,2]})");
  Json rows = Json::array();
  for (int i = 0; i < 3; ++i) rows.push_back({{"name", std::string(50, 'x')}, {"at", Json::array({i})}});
  const std::string text = json_text(rows);
  EXPECT_THAT(text, AllOf(HasSubstr("[\n {"), HasSubstr("},\n {"), HasSubstr("}\n]")));
  EXPECT_EQ(parse_json(text, "x.json"), rows);
}

}  // namespace
}  // namespace assay

#include "bench/programs/layouts.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// The commands that `ninja -t commands assay` prints for a small build, as CMake 3.25 writes it: two objects
/// of a harness that is linked as needed, three of kernels that are linked whole.
constexpr const char* small_build = R"(/usr/bin/c++ -O3 -o h/one.cpp.o -c /src/h/one.cpp
cd /build/h && /usr/bin/cmake "-DFLAGS= -O3" -P /src/info.cmake
: && /usr/bin/cmake -E rm -f h/libh.a && /usr/bin/ar qc h/libh.a  h/one.cpp.o h/two.cpp.o && /usr/bin/ranlib h/libh.a && :
: && /usr/bin/cmake -E rm -f k/libk.a && /usr/bin/ar qc k/libk.a  k/a.cpp.o k/b.cpp.o k/c.cpp.o && /usr/bin/ranlib k/libk.a && :
: && /usr/bin/c++ -O3  app/main.cpp.o -o assay  -Wl,-rpath,/opt/lib:  h/libh.a  -Wl,--push-state,--whole-archive  k/libk.a  -Wl,--pop-state  h/libh.a  /usr/lib/libpthread.a  -ldl && :
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

/// The last of the commands: the link.
Words link_of(const std::vector<Words>& commands) { return commands.back(); }

Words objects_in(const Words& words) {
  Words out;
  std::ranges::copy_if(words, std::back_inserter(out), [](const auto& word) { return word.ends_with(".o"); });
  return out;
}

TEST(CommandsOfALine, AreSplitAtAndsAndLoseThoseThatDoNothing) {
  EXPECT_THAT(commands_of_line(": && ar qc a.a  b.o && :"),
              Optional(ElementsAre(ElementsAre("ar", "qc", "a.a", "b.o"))));
  EXPECT_THAT(commands_of_line("a b && c"), Optional(ElementsAre(ElementsAre("a", "b"), ElementsAre("c"))));
  EXPECT_THAT(commands_of_line(""), Optional(IsEmpty()));
}

TEST(CommandsOfALine, AreUnquotedAsAShellDoesIt) {
  // Each line as sh prints its words with `printf '%s\n'`.
  const auto words = [](std::string_view line) { return commands_of_line(line).value().at(0); };
  EXPECT_THAT(words(R"(a 'b c' "d e")"), ElementsAre("a", "b c", "d e"));
  EXPECT_THAT(words(R"(a\ b c"d"'e')"), ElementsAre("a b", "cde"));
  EXPECT_THAT(words(R"("a\"b" "c\d" 'e\f')"), ElementsAre("a\"b", "c\\d", "e\\f"));
  EXPECT_THAT(words(R"("" '')"), ElementsAre("", ""));
  EXPECT_THAT(words(R"("a && b" '$c')"), ElementsAre("a && b", "$c"));
}

TEST(CommandsOfALine, AreNoneWhereOnlyAShellWouldDo) {
  for (const char* line :
       {"a > b", "a | b", "a; b", "a $b", "a `b`", "a \"$b\"", "a *.o", "a & b", "a 'b", "a \"b", "a \\"}) {
    EXPECT_EQ(commands_of_line(line), std::nullopt) << line;
  }
}

TEST(LinkRecipe, NamesObjectsAndArchivesOfTheBuild) {
  const LinkRecipe recipe = link_recipe(small_build, "assay");
  EXPECT_EQ(recipe.unfit, "");
  EXPECT_THAT(recipe.objects, ElementsAre("app/main.cpp.o", "k/a.cpp.o", "k/b.cpp.o", "k/c.cpp.o"));
  EXPECT_THAT(recipe.archives,
              UnorderedElementsAre(Pair("h/libh.a", ::testing::_), Pair("k/libk.a", ::testing::_)));
  EXPECT_FALSE(recipe.archives.at("h/libh.a").whole);
  EXPECT_TRUE(recipe.archives.at("k/libk.a").whole);
  EXPECT_THAT(recipe.archives.at("h/libh.a").members, ElementsAre("h/one.cpp.o", "h/two.cpp.o"));
}

TEST(LinkRecipe, EndsWholeArchivesWhereTheLinkDoes) {
  const std::string older = with(with(small_build, "-Wl,--push-state,--whole-archive", "-Wl,--whole-archive"),
                                 "-Wl,--pop-state", "-Xlinker --no-whole-archive");
  const LinkRecipe recipe = link_recipe(older, "assay");
  EXPECT_TRUE(recipe.archives.at("k/libk.a").whole);
  EXPECT_FALSE(recipe.archives.at("h/libh.a").whole);
}

TEST(LinkRecipe, RefusesResponseFiles) {
  const std::string planted = with(small_build, "app/main.cpp.o -o", "@CMakeFiles/assay.rsp -o");
  EXPECT_THAT(link_recipe(planted, "assay").unfit, HasSubstr("response file CMakeFiles/assay.rsp"));
  const std::string members = with(small_build, "k/a.cpp.o k/b.cpp.o k/c.cpp.o", "@k.rsp");
  EXPECT_THAT(link_recipe(members, "assay").unfit,
              AllOf(HasSubstr("k/libk.a"), HasSubstr("response file k.rsp")));
}

TEST(LinkRecipe, RefusesALinkWithoutArchivesOfTheBuild) {
  const std::string planted = ": && c++ app/main.cpp.o -o assay /opt/libh.a -ldl && :\n";
  EXPECT_THAT(link_recipe(planted, "assay").unfit, HasSubstr("no two objects"));
}

TEST(LinkRecipe, RefusesAProgramThatNoCommandLinks) {
  EXPECT_THAT(link_recipe(small_build, "other").unfit, HasSubstr("links other"));
  EXPECT_THAT(link_recipe("", "assay").unfit, HasSubstr("links assay"));
  const std::string through_shell = with(small_build, "-ldl &&", "$LIBS &&");
  EXPECT_THAT(link_recipe(through_shell, "assay").unfit, HasSubstr("without a shell"));
  const std::string elsewhere = with(small_build, ": && /usr/bin/c++", "cd sub && /usr/bin/c++");
  EXPECT_THAT(link_recipe(elsewhere, "assay").unfit, HasSubstr("without a shell"));
}

TEST(LinkedTo, ChangesNothingButTheNameOfTheProgram) {
  EXPECT_THAT(linked_to(link_recipe(small_build, "assay"), "/tmp/again"),
              ElementsAre("/usr/bin/c++", "-O3", "app/main.cpp.o", "-o", "/tmp/again",
                          "-Wl,-rpath,/opt/lib:", "h/libh.a", "-Wl,--push-state,--whole-archive", "k/libk.a",
                          "-Wl,--pop-state", "h/libh.a", "/usr/lib/libpthread.a", "-ldl"));
}

TEST(LinkedTo, LeavesTheBuildsOwnRecordOfWhatWasReadAlone) {
  const std::string newer = with(small_build, "-ldl", "-Xlinker --dependency-file=link.d -ldl");
  const Words words = linked_to(link_recipe(newer, "assay"), "again");
  EXPECT_THAT(words, Not(Contains(HasSubstr("link.d"))));
  EXPECT_THAT(words, Not(Contains("-Xlinker")));
  EXPECT_EQ(words.back(), "-ldl");
}

TEST(Reordered, LinksEveryObjectOnceAndKeepsAllElse) {
  const auto commands = reordered(link_recipe(small_build, "assay"), 1, "/tmp/s", "/tmp/assay-1");
  const Words link = link_of(commands);
  EXPECT_THAT(objects_in(link),
              UnorderedElementsAre("app/main.cpp.o", "k/a.cpp.o", "k/b.cpp.o", "k/c.cpp.o"));
  Words rest;
  std::ranges::copy_if(link, std::back_inserter(rest),
                       [](const auto& word) { return !word.ends_with(".o"); });
  EXPECT_THAT(rest, ElementsAre("/usr/bin/c++", "-O3", "-o", "/tmp/assay-1",
                                "-Wl,-rpath,/opt/lib:", "/tmp/s/0.a", "-Wl,--push-state,--whole-archive",
                                "-Wl,--pop-state", "/tmp/s/0.a", "/usr/lib/libpthread.a", "-ldl"));
  EXPECT_THAT(Words(link.begin() + 2, link.begin() + 6), objects_in(link));  // before every archive
}

TEST(Reordered, MakesArchivesAnewThatAreNotLinkedWhole) {
  // One that defines a second main must stay out as long as nothing refers to it.
  const auto commands = reordered(link_recipe(small_build, "assay"), 1, "/tmp/s", "/tmp/assay-1");
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_THAT(Words(commands[0].begin(), commands[0].begin() + 3),
              ElementsAre("/usr/bin/ar", "qcs", "/tmp/s/0.a"));
  EXPECT_THAT(objects_in(commands[0]), UnorderedElementsAre("h/one.cpp.o", "h/two.cpp.o"));
}

/// Twelve objects, so that two drawn orders agree by chance once in 479 million.
std::string twelve(const std::string& more) {
  std::string archive = ": && ar qc k.a";
  for (int i = 0; i < 12; ++i) archive += " k/" + std::to_string(i) + ".o";
  return archive + more + " && :\n: && c++ -o assay -Wl,--whole-archive k.a -Wl,--no-whole-archive && :\n";
}

Words order(const std::string& build, std::uint64_t seed) {
  return objects_in(link_of(reordered(link_recipe(build, "assay"), seed, "s", "out")));
}

TEST(Reordered, DrawsAnotherOrderFromAnotherSeedAndTheSameFromTheSame) {
  EXPECT_EQ(order(twelve(""), 1), order(twelve(""), 1));
  EXPECT_NE(order(twelve(""), 1), order(twelve(""), 2));
  EXPECT_NE(order(twelve(""), 1), link_recipe(twelve(""), "assay").objects);
}

TEST(LinkedTo, LeavesOutADependencyFileThatNothingStandsBefore) {
  const LinkRecipe recipe = link_recipe("--dependency-file=d a.o b.o -o assay\n", "assay");
  EXPECT_THAT(linked_to(recipe, "out"), ElementsAre("a.o", "b.o", "-o", "out"));
}

TEST(Reordered, KeepsTheOrderOfCommonObjectsWhenOneSideHasMore) {
  Words more = order(twelve(" k/added.o"), 3);
  ASSERT_EQ(std::erase(more, "k/added.o"), 1U);
  EXPECT_EQ(more, order(twelve(""), 3));
}

}  // namespace
}  // namespace assay

// What a child can do to its answers after it has sent them.
#include "core/files/answers.hpp"

#include "core/files/child_process.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Waits for a copy of this process that does `work` with its end.
template <class Work>
ChildEnd of_child(Answers& answers, const Work& work) {
  const pid_t child = fork_child([&] {
    answers.take_over();
    work();
    return 0;
  });
  return wait_for_children({child}, {.answers = {&answers}});
}

TEST(Answers, ComeInOrderAndHoweverLongTheyAre) {
  Answers answers;
  const std::string text(3000000, 'x');
  bool looked = false;
  answers.when_sealed([&] { looked = true; });
  EXPECT_TRUE(of_child(answers, [&] {
                answers.send("a");
                answers.send(text);
                answers.seal();
              }).passed());
  EXPECT_THAT(answers.all(), ElementsAre("a", text));
  EXPECT_TRUE(answers.sealed());
  EXPECT_TRUE(looked);
  EXPECT_FALSE(answers.spoilt());
}

TEST(Answers, AreKeptFromAChildThatComesToNoEnd) {
  Answers answers;
  EXPECT_FALSE(of_child(answers, [&] {
                 answers.send("a");
                 constexpr char half_an_answer[] = {100, 0, 0, 0, 0, 0, 0, 0, 'b'};
                 static_cast<void>(!write(answers.descriptor(), half_an_answer, sizeof half_an_answer));
                 _exit(3);
               }).passed());
  EXPECT_THAT(answers.all(), ElementsAre("a"));
  EXPECT_FALSE(answers.sealed());
}

TEST(Answers, CannotBeTakenBack) {
  Answers answers;
  const ChildEnd end = of_child(answers, [&] {
    answers.send("a");
    std::string bytes(100, '\0');
    const std::string path = "/proc/self/fd/" + std::to_string(answers.descriptor());
    const bool read = recv(answers.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT) >= 0;
    const bool opened = open(path.c_str(), O_RDWR) >= 0;
    _exit(read || opened || pwrite(answers.descriptor(), "bbbbbbbbb", 9, 0) >= 0 ? 1 : 0);
  });
  EXPECT_TRUE(end.passed());
  EXPECT_THAT(answers.all(), ElementsAre("a"));
}

TEST(Answers, AreFollowedByNothingAfterTheSeal) {
  Answers answers;
  const ChildEnd end = of_child(answers, [&] {
    answers.send("a");
    answers.seal();
    answers.send("b");
  });
  EXPECT_EQ(end.exit_code, Answers::cut_off);
  EXPECT_THAT(answers.all(), ElementsAre("a"));
}

TEST(Answers, AreSpoiltByWhatIsNone) {
  Answers answers;
  of_child(answers, [&] { static_cast<void>(!write(answers.descriptor(), "no answer at all", 16)); });
  EXPECT_THAT(answers.all(), IsEmpty());
  EXPECT_TRUE(answers.spoilt());
}

TEST(Answers, GoToNoOtherChild) {
  Answers answers;
  const ChildEnd end = wait_for_children(
      {start_child({.words = {"sh", "-c", "test ! -e /proc/self/fd/" + std::to_string(answers.descriptor())},
                    .folder = {}})});
  EXPECT_TRUE(end.passed());
  const ChildEnd own = wait_for_children({start_child(
      {.words = {"sh", "-c", "test -e /proc/self/fd/" + std::to_string(answers.descriptor())}, .folder = {}},
      {.answers = &answers})});
  EXPECT_TRUE(own.passed());
}

}  // namespace
}  // namespace assay

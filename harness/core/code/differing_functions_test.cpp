#include "core/code/differing_functions.hpp"
#include "core/code/compiled_test.hpp"
#include "core/files/answers.hpp"
#include "core/files/child_process.hpp"

#include <gmock/gmock.h>

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>
#include <string>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Constants, imports, calls and local functions; `before_main` moves all that follows.
std::string program(const std::string& factor, const std::string& before_main = "",
                    const std::string& call = "sin") {
  return "extern \"C\" { double sin(double); double cos(double); double sqrt(double);\n"
         "int printf(const char*, ...); }\n" +
         before_main +
         "static float table[64];\n"
         "__attribute__((noinline)) static double scaled(double x) { return x * " +
         factor +
         " + table[3]; }\n"
         "__attribute__((noinline)) static double bent(double x) { return " +
         call +
         "(x) + scaled(x); }\n"
         "__attribute__((noinline)) void show(double x) { printf(\"%g of %s\\n\", bent(x), \"x\"); }\n"
         "int main(int argc, char**) { table[argc] = 1; show(argc); }\n";
}

constexpr const char* more_before =
    "__attribute__((noinline)) void added(float x) { printf(\"another text %g\\n\", x * 17.25f); }\n"
    "volatile float sink[100]; double other(double x) { return x / 1.0625; }\n";

class DifferingFunctions : public ::testing::Test {
 protected:
  std::filesystem::path link(const std::string& name, const std::string& text,
                             const std::string& flags = "") {
    folder_.write(name + "/packed.cpp", text);
    return folder_.compile(name + "/program", flags + " '" + name + "/packed.cpp' -lm");
  }
  static std::vector<std::string> names(const FunctionDifferences& all) {
    std::vector<std::string> out;
    for (const DifferingFunction& function : all.functions) out.push_back(function.name);
    return out;
  }
  testing::CompiledFolder folder_;
};

/// Benchmarks of a library of which each part can be another: its code, a constant table, an object behind a
/// pointer that another function sets, and what stands around them.
struct Benchmarks {
  std::string factor = "2.5", entry = "7", method = "3", border = "1", before{}, main{}, last{};
  std::string text() const {
    return "#define KEPT __attribute__((used, noinline))\n"
           "namespace benchmark { struct State { int n; }; KEPT int next(State& s) { return s.n -= " +
           border + "; } }\n" + before + "KEPT static double scaled(double x) { return x * " + factor +
           "; }\nextern const int table[4]; const int table[4] = {1, 2, 3, " + entry +
           "};\nstruct Shape { virtual double area() = 0; };\n"
           // In its instructions: neighbours of a constant may be read with it.
           "struct Square : Shape { int side = 1; double area() override { return side * " +
           method +
           "; } } square;\n"
           "Shape* chosen; __attribute__((constructor)) static void choose() { chosen = &square; }\n"
           "KEPT static void scales(benchmark::State& s) { while (next(s)) s.n -= scaled(s.n) > 1; }\n"
           "KEPT static int looks_up(benchmark::State& s) { return table[benchmark::next(s)]; }\n"
           "KEPT static double asks(benchmark::State&) { return chosen->area(); }\n"
           "template <class T> void typed(benchmark::State& s) { s.n = sizeof(T); }\n"
           "template void typed<int>(benchmark::State&);\n"
           "KEPT static void captured(benchmark::State& s, int i) { s.n = i; }\n" +
           last + "int main(int argc, char**) { " + main + "return argc; }\n";
  }
};

TEST_F(DifferingFunctions, AreNoneBetweenAProgramAndItsCopy) {
  const FunctionDifferences all = differing_functions(link("a", program("2.5")), link("b", program("2.5")));
  EXPECT_EQ(all.unknown, "");
  EXPECT_THAT(names(all), IsEmpty());
}

TEST_F(DifferingFunctions, AreOnlyTheNewOnesWhereNewOnesMoveAllOthers) {
  const auto all = differing_functions(link("a", program("2.5")), link("b", program("2.5", more_before)));
  EXPECT_THAT(names(all), ::testing::UnorderedElementsAre("added(float)", "other(double)"));
  for (const DifferingFunction& function : all.functions) {
    EXPECT_EQ(function.size_before, 0U);
    EXPECT_EQ(function.changed, function.size_after);
  }
}

TEST_F(DifferingFunctions, IncludeOneWhoseOnlyChangeIsAConstantOutsideItsInstructions) {
  const auto all = differing_functions(link("a", program("2.5")), link("b", program("3.5")));
  EXPECT_THAT(names(all), ::testing::ElementsAre("scaled(double)"));
}

TEST_F(DifferingFunctions, IncludeOneThatCallsAnotherImport) {
  const auto all =
      differing_functions(link("a", program("2.5", "", "sin")), link("b", program("2.5", "", "cos")));
  EXPECT_THAT(names(all), ::testing::Contains("bent(double)"));
  EXPECT_THAT(names(all), ::testing::Not(::testing::Contains("scaled(double)")));
}

TEST_F(DifferingFunctions, StandInTheOrderOfTheirChange) {
  const auto all = differing_functions(link("a", program("2.5")),
                                       link("b", program("3.5", "", "table[5] / sqrt(x) * sin")));
  ASSERT_EQ(all.functions.size(), 2U);
  EXPECT_EQ(all.functions[0].name, "bent(double)");
  EXPECT_GT(all.functions[0].size_after, all.functions[0].size_before);
  EXPECT_GE(all.functions[0].changed, all.functions[1].changed);
}

TEST_F(DifferingFunctions, AreThoseOfOneSourceWhenAskedFor) {
  const auto a = link("a", program("2.5")), b = link("b", program("3.5", more_before));
  EXPECT_THAT(names(differing_functions(a, b, "kernels/gemm/packed.cpp")),
              ::testing::ElementsAre("scaled(double)"));
  EXPECT_THAT(differing_functions(a, b, "kernels/gemm/simd.cpp").unknown, HasSubstr("named simd.cpp"));
}

/// A switch that becomes a table of jumps, imports and texts; `before` moves all of it.
std::string with_a_switch(const std::string& before, const std::string& fourth = "x - 4") {
  return "extern \"C\" int puts(const char*); extern \"C\" int putchar(int);\n" + before +
         "__attribute__((noinline)) int chosen(int kind, int x) {\n"
         "  switch (kind) {\n"
         "    case 0: return puts(\"none\"); case 1: return x * 7; case 2: return putchar(x); case 3: "
         "return " +
         fourth +
         ";\n"
         "    case 4: return x / 5; case 5: return x % 11; case 6: return puts(\"six\") + x; default: return "
         "-1;\n"
         "  }\n"
         "}\n"
         "int main(int argc, char**) { return chosen(argc, 3); }\n";
}

TEST_F(DifferingFunctions, AreNoneWhereCallsAndTablesOfJumpsMerelyMoved) {
  const std::string moves =
      "volatile int sink; void a() { sink = puts(\"another text\"); } const char* volatile words[] = {\"p\", "
      "\"q\"};\n"
      "__attribute__((noinline)) int b(int k) { switch (k) { case 0: return puts(\"x\"); case 1: return "
      "sink; case 2:\n"
      "  return putchar(9); case 3: return 5; case 4: sink = 8; return 1; case 5: return sink * 3; default: "
      "return 0; } }\n";
  std::vector<std::string> found =
      names(differing_functions(link("a", with_a_switch("")), link("b", with_a_switch(moves))));
  std::erase(found, "b(int) [clone .cold]");  // GCC makes two parts of it
  EXPECT_THAT(found, ::testing::UnorderedElementsAre("a()", "b(int)"));
}

TEST_F(DifferingFunctions, IncludeOneWithOneOtherInstructionOfTheSameLength) {
  EXPECT_THAT(names(differing_functions(link("a", with_a_switch("")), link("b", with_a_switch("", "x - 5")))),
              ::testing::ElementsAre("chosen(int, int)"));
}

/// A variant that calls a function of another file, which registers one, too.
std::string registered(const std::string& callee) {
  return "struct Place { const char* file; const char* function; unsigned line; };\n"
         "extern volatile const void* kept; extern int (*kernel)(int); " +
         callee;
}

TEST_F(DifferingFunctions, AreThoseThatTheRegistrationOfASourceReaches) {
  const auto program_of = [&](const std::string& name, const std::string& factor) {
    folder_.write(
        name + "/kernels/gemm/simd.cpp",
        registered("namespace simd { __attribute__((noinline)) int product(int x) { return x * " + factor +
                   "; } }\nstatic const int once = (kept = \"kernels/gemm/simd.cpp\", kernel = "
                   "simd::product, 1);\n"));
    folder_.write(
        name + "/kernels/gemm/threaded.cpp",
        registered("namespace simd { int product(int); }\n"
                   "static int split(int x) { return simd::product(x) + simd::product(x + 1); }\n"
                   "static const int once = (kept = \"kernels/gemm/threaded.cpp\", kernel = split, 1);\n"));
    folder_.write(
        name + "/kernels/adamw/simd.cpp",
        registered("static int other(int x) { return x + " + factor +
                   "; }\nstatic const int once = (kept = \"kernels/adamw/simd.cpp\", kernel = other, 1);\n"));
    folder_.write(name + "/main.cpp",
                  "volatile const void* kept; int (*kernel)(int);\n"
                  "int main(int argc, char**) { return kernel(argc); }\n");
    return folder_.compile(name + "/program", "-I. '" + name + "/kernels/gemm/simd.cpp' '" + name +
                                                  "/kernels/gemm/threaded.cpp' '" + name +
                                                  "/kernels/adamw/simd.cpp' '" + name + "/main.cpp'");
  };
  const auto a = program_of("a", "3"), b = program_of("b", "7");
  const std::vector<std::string> sources{"kernels/gemm/simd.cpp", "kernels/gemm/threaded.cpp",
                                         "kernels/adamw/simd.cpp"};
  for (const char* source : {"kernels/gemm/simd.cpp", "kernels/gemm/threaded.cpp"}) {
    const FunctionDifferences found = differing_functions(a, b, source, sources);
    EXPECT_TRUE(found.reached);
    EXPECT_THAT(names(found), ::testing::ElementsAre("simd::product(int)")) << source;
  }
  const FunctionDifferences other = differing_functions(a, b, "kernels/adamw/simd.cpp", sources);
  EXPECT_THAT(names(other), ::testing::ElementsAre("other(int)")) << "not that of the other simd.cpp";
  EXPECT_EQ(other.functions.at(0).source, "kernels/adamw/simd.cpp");
  EXPECT_THAT(names(differing_functions(a, a, "kernels/gemm/simd.cpp", sources)), IsEmpty());
}

TEST_F(DifferingFunctions, AreUnknownForAStrippedProgram) {
  const auto whole = link("a", program("2.5")), stripped = link("b", program("2.5"), "-s");
  const FunctionDifferences all = differing_functions(whole, stripped);
  EXPECT_THAT(all.functions, IsEmpty());
  EXPECT_THAT(all.unknown, HasSubstr("it was stripped"));
  EXPECT_THAT(differing_functions(whole, folder_.write("text", "no program")).unknown,
              HasSubstr("is no ELF file"));
}

using ::testing::StartsWith;

/// The code that a copy of this process has changed when it is done with `work`.
template <class Work>
std::string changed_by(const Work& work) {
  Answers answers;
  std::string out = "nobody looked";
  const pid_t child = fork_child([&] {
    answers.take_over();
    work();
    answers.seal();
    return 0;
  });
  answers.when_sealed([&] { out = changed_code(child); });
  EXPECT_TRUE(wait_for_children({child}, {.answers = {&answers}}).passed());
  return out;
}

/// Whether the page of this code can be given such rights.
bool protects(const void* code, int rights) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(code) / page * page;
  return mprotect(reinterpret_cast<void*>(begin), page, rights) == 0;
}

/// Overwrites the first byte there.
void overwrite(void* code, unsigned char by) {
  if (!protects(code, PROT_READ | PROT_WRITE | PROT_EXEC)) _exit(1);
  std::memcpy(code, &by, 1);
  protects(code, PROT_READ | PROT_EXEC);
}

constexpr unsigned char returns = 0xc3, breakpoint = 0xcc;

TEST(ChangedCode, IsNoneWhereAProcessRunsItsFiles) {
  EXPECT_THAT(changed_by([] {}), IsEmpty());
  EXPECT_THAT(changed_code(getpid()), IsEmpty());
}

TEST(ChangedCode, IsNamedByTheFile) {
  EXPECT_THAT(changed_by([] { overwrite(reinterpret_cast<void*>(&changed_code), returns); }),
              HasSubstr("core_tests"));
  EXPECT_THAT(changed_by([] { overwrite(reinterpret_cast<void*>(&std::labs), returns); }),
              StartsWith("libc.so"));
}

TEST(ChangedCode, IsNamedInTheClockOfTheSystem) {
  // Not the first bytes, by which it is found.
  constexpr std::uintptr_t inside = 0x500;
  auto* const clock = reinterpret_cast<void*>(getauxval(AT_SYSINFO_EHDR) + inside);
  if (!protects(clock, PROT_READ | PROT_WRITE | PROT_EXEC))
    GTEST_SKIP() << "this system lets nobody change its clock";
  protects(clock, PROT_READ | PROT_EXEC);
  EXPECT_EQ(changed_by([&] { overwrite(clock, returns); }), "the clock of the system");
}

TEST(ChangedCode, IsNoneWhereSomebodyTracesCalls) {
  EXPECT_THAT(changed_by([] { overwrite(reinterpret_cast<void*>(&std::labs), breakpoint); }), IsEmpty());
}

TEST(ChangedCode, IsNoneOfCodeThatAProcessMakes) {
  EXPECT_THAT(changed_by([] {
                void* const made = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (made == MAP_FAILED) _exit(1);
                std::memset(made, returns, 4096);
              }),
              IsEmpty());
}

TEST(ChangedCode, CannotBeHidden) {
  if (geteuid() == 0) GTEST_SKIP() << "nothing is hidden from root";
  EXPECT_THAT(changed_by([] { prctl(PR_SET_DUMPABLE, 0); }), HasSubstr("hides"));
}

TEST_F(DifferingFunctions, LeaveBenchmarksUnchangedThatReachNoneOfThem) {
  const auto unchanged = [this](const Benchmarks& head, const std::string& flags = "") {
    return unchanged_functions(link("a", Benchmarks{}.text()), link("b", head.text(), flags),
                               "benchmark::State&", "benchmark");
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(unchanged({}), ElementsAre("asks", "looks_up", "scales", "typed<int>"));
  EXPECT_THAT(unchanged({.before = "KEPT void added(int* x) { *x *= 17; }\n"}),
              ElementsAre("asks", "looks_up", "scales", "typed<int>"))
      << "what moves is no change";
  EXPECT_THAT(unchanged({.factor = "3.5"}), ElementsAre("asks", "looks_up", "typed<int>"));
  EXPECT_THAT(unchanged({.entry = "8"}), ElementsAre("asks", "scales", "typed<int>"));
  EXPECT_THAT(unchanged({.method = "4"}), ElementsAre("looks_up", "scales", "typed<int>"))
      << "it is reached by what sets the pointer alone";
  EXPECT_THAT(unchanged({.border = "2"}), IsEmpty());
  EXPECT_THAT(unchanged({.main = "if (table[argc] == 7) throw 1; "}), IsEmpty());
  EXPECT_THAT(unchanged({.last = "thread_local int of_thread;\n"}), IsEmpty());
  EXPECT_THAT(unchanged({}, "-Wl,-rpath,/opt/lib"), IsEmpty());
  EXPECT_THAT(unchanged({}, "-s"), IsEmpty());
}

}  // namespace

}  // namespace assay

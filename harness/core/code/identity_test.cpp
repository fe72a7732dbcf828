#include "core/code/identity.hpp"
#include "assay/code_table.hpp"
#include "core/code/calls.hpp"
#include "core/code/compiled_test.hpp"

#include <gmock/gmock.h>

#include <map>

namespace assay {
namespace {

using ::testing::Key;
using ::testing::UnorderedElementsAre;

/// A registration as the linker sees it, without the compilation of the real headers. LOOP stands for an edit
/// of the loop that is timed.
constexpr const char* harness = R"(
#pragma once
#include <source_location>
#ifndef LOOP
#define LOOP
#endif
namespace assay {
#ifdef __cpp_lib_source_location
using SourceLocation = std::source_location;
#else
struct SourceLocation {
  static constexpr SourceLocation current(const char* file = __builtin_FILE()) { return {file}; }
  const char* file;
};
#endif
struct Operation { virtual ~Operation() = default; };
using Run = float (*)(float);
struct Registry;
namespace detail {
template <class Op> struct TypedKernel {
  virtual ~TypedKernel() = default;
  virtual void repeat(long calls) { LOOP; for (long i = 0; i < calls; ++i) last = run(last); }
  Run run; float last = 0;
};
void add_variant(Registry& registry, const Operation& contract);
template <class Op> struct TypedOperation : Operation {
  [[gnu::noinline]] static void add(Registry& registry, Run run);
  virtual TypedKernel<Op>* kernel() { return new TypedKernel<Op>; }
  virtual bool agrees(float x) { return Op::judge(x); }
  Run run = nullptr;
};
template <class Op> void TypedOperation<Op>::add(Registry& registry, Run run) {
  static TypedOperation contract;
  contract.run = run;
  add_variant(registry, contract);
}
}
struct Registry {
  template <class Op> void add(Run run) { detail::TypedOperation<Op>::add(*this, run); }
};
struct Register {
  explicit Register(void (*fill)(Registry&), SourceLocation where = SourceLocation::current()) noexcept;
  void (*fill_)(Registry&);
};
struct Pick { int (*of)(int threads); };
struct RegisterPicks {
  explicit RegisterPicks(const Pick& pick, SourceLocation where = SourceLocation::current()) noexcept;
  const Pick& pick_;
};
struct Gemm { static bool judge(float x); };
struct Relu { static bool judge(float x); };
extern template struct detail::TypedOperation<Gemm>;
extern template struct detail::TypedOperation<Relu>;
float planned(float x);
float also_planned(float x);
}
)";

/// A reference: the contract, its judge, and naive.
std::string reference(const std::string& contract, const std::string& limit = "1") {
  return "#include \"harness.hpp\"\nnamespace assay { namespace {\n"
         "float naive(float x) { return x / 3; }\n"
         "const Register registered{[](Registry& r) { r.add<" +
         contract + ">(naive); }};\n}\nbool " + contract + "::judge(float x) { return x < " + limit +
         "; }\ntemplate struct detail::TypedOperation<" + contract + ">;\n}\n";
}

/// A file of kernels/: `above` the registration of `run`, whose body is given.
std::string kernel(const std::string& body, const std::string& above = "",
                   const std::string& contract = "Gemm", const std::string& registered = "run") {
  return "#include \"harness.hpp\"\nnamespace assay { namespace {\nfloat run(float x) { " + body + " }\n" +
         above + "\nconst Register registered{[](Registry& r) { r.add<" + contract + ">(" + registered +
         "); }};\n}}\n";
}

using Sources = std::map<std::string, std::string>;

const Sources usual{
    {"reference/gemm.cpp", reference("Gemm")},
    {"reference/relu.cpp", reference("Relu")},
    {"kernels/gemm/plan.cpp",
     "#include \"harness.hpp\"\nnamespace assay {\nfloat planned(float x) { return x + 5; }\n"
     "float also_planned(float x) { return x + 6; }\n}\n"},
    {"kernels/gemm/packed.cpp", kernel("return x * 2.5f;")},
    {"kernels/gemm/threaded.cpp", kernel("return planned(x) - 7;")},
    {"kernels/relu/flat.cpp", kernel("return x > 0 ? x : 0;", "", "Relu")},
};

std::vector<std::filesystem::path> compiled(const testing::CompiledFolder& folder, const Sources& sources,
                                            const std::string& flags) {
  folder.write("harness.hpp", harness);
  std::vector<std::filesystem::path> objects;
  for (const auto& [source, text] : sources) {
    folder.write(source, text);
    const std::size_t slash = source.find('/');
    const std::string object =
        "build/" + source.substr(0, slash) + "/CMakeFiles/all.dir" + source.substr(slash) + ".o";
    objects.push_back(folder.compile(object, flags + " -I. -c '" + (folder.path() / source).string() + "'"));
  }
  return objects;
}

using Codes = std::map<std::string, std::string>;

/// Compiled in a folder that no other call has.
std::vector<CodeIdentity> identities(const Sources& sources, const std::string& flags) {
  const testing::CompiledFolder folder;
  std::vector<CodeObject> objects;
  for (const auto& path : compiled(folder, sources, flags)) {
    objects.push_back({source_of(path, folder.path() / "build"), read_elf(path).file});
  }
  return code_identities(objects);
}

Codes codes(const Sources& sources, const std::string& flags = "") {
  Codes out;
  for (const CodeIdentity& one : identities(sources, flags)) out[one.source] = one.code;
  return out;
}

Sources with(const std::string& source, const std::string& text) {
  Sources out = usual;
  out[source] = text;
  return out;
}

/// Files whose code is not what it usually is.
std::vector<std::string> changed(const Sources& sources, const std::string& flags = "") {
  const Codes before = codes(usual), after = codes(sources, flags);
  std::vector<std::string> out;
  for (const auto& [source, code] : before) {
    const auto found = after.find(source);
    if (code.empty() || found == after.end() || found->second != code) out.push_back(source);
  }
  return out;
}

TEST(CodeIdentity, IsKnownForEveryFileThatRegistersAndForNoOther) {
  const Codes all = codes(usual);
  EXPECT_THAT(all, UnorderedElementsAre(Key("reference/gemm.cpp"), Key("reference/relu.cpp"),
                                        Key("kernels/gemm/packed.cpp"), Key("kernels/gemm/threaded.cpp"),
                                        Key("kernels/relu/flat.cpp")));
  for (const auto& [source, code] : all) EXPECT_EQ(code.size(), 16U) << source;
}

TEST(CodeIdentity, IsTheSameInEveryBuildFolder) { EXPECT_THAT(changed(usual), ::testing::IsEmpty()); }

TEST(CodeIdentity, ChangesWithOneConstantOfAKernelAndForThatFileAlone) {
  EXPECT_THAT(changed(with("kernels/gemm/packed.cpp", kernel("return x * 3.5f;"))),
              ::testing::ElementsAre("kernels/gemm/packed.cpp"));
}

TEST(CodeIdentity, StaysWithACommentAndWithOtherNames) {
  std::string text = kernel("const float twice = x * 2.5f; return twice;", "// One line\n// and another.",
                            "Gemm", "renamed");
  text.replace(text.find("float run("), 10, "float renamed(");
  EXPECT_THAT(changed(with("kernels/gemm/packed.cpp", text)), ::testing::IsEmpty());
}

TEST(CodeIdentity, StaysWithACommentWhereTheCompilerSpellsThePathInItsWay) {
  const auto code_at = [](const std::string& line) {
    const std::string above = "#line " + line + " \"kernels/gemm/./packed.cpp\"";
    return codes(with("kernels/gemm/packed.cpp", kernel("return x;", above))).at("kernels/gemm/packed.cpp");
  };
  EXPECT_EQ(code_at("5"), code_at("9"));
}

TEST(CodeIdentity, StaysWhenFunctionsChangePlaces) {
  const std::string one = "float planned(float x) { return x + 5; }\n";
  const std::string two = "float also_planned(float x) { return x + 6; }\n";
  const std::string before = "#include \"harness.hpp\"\nnamespace assay {\n";
  EXPECT_THAT(changed(with("kernels/gemm/plan.cpp", before + two + one + "}\n")), ::testing::IsEmpty());
}

TEST(CodeIdentity, ChangesWithWhatItCallsInAnotherFileOnly) {
  std::string text = usual.at("kernels/gemm/plan.cpp");
  text.replace(text.find("x + 5"), 5, "x + 9");
  EXPECT_THAT(changed(with("kernels/gemm/plan.cpp", text)),
              ::testing::ElementsAre("kernels/gemm/threaded.cpp"));
  text = usual.at("kernels/gemm/plan.cpp");
  text.replace(text.find("x + 6"), 5, "x + 9");
  EXPECT_THAT(changed(with("kernels/gemm/plan.cpp", text)), ::testing::IsEmpty());
}

TEST(CodeIdentity, StaysWhenAJudgeChanges) {
  EXPECT_THAT(changed(with("reference/gemm.cpp", reference("Gemm", "2"))), ::testing::IsEmpty());
}

TEST(CodeIdentity, ChangesWithTheLoopThatIsTimedForAllVariantsOfTheOperation) {
  std::string text = reference("Gemm");
  text = "#define LOOP calls += 1\n" + text;
  EXPECT_THAT(
      changed(with("reference/gemm.cpp", text)),
      ::testing::ElementsAre("kernels/gemm/packed.cpp", "kernels/gemm/threaded.cpp", "reference/gemm.cpp"));
}

TEST(CodeIdentity, ChangesWhenTheRegistrationNamesAnotherFunction) {
  const std::string other =
      "float other(float x) { return x * 2; }\nfloat (*volatile both[])(float) = {run, other};";
  const Codes before = codes(with("kernels/gemm/packed.cpp", kernel("return x;", other, "Gemm", "run")));
  const Codes after = codes(with("kernels/gemm/packed.cpp", kernel("return x;", other, "Gemm", "other")));
  EXPECT_NE(before.at("kernels/gemm/packed.cpp"), after.at("kernels/gemm/packed.cpp"));
}

TEST(CodeIdentity, IsThatOfTheRuleWhereAFilePicksVariants) {
  const auto rule = [](const std::string& least, const std::string& comment = "") {
    return "#include \"harness.hpp\"\nnamespace assay { namespace {\nint of(int threads) { return threads "
           "> " +
           least + "; }\n" + comment +
           "constexpr Pick pick{of};\nconst RegisterPicks registered{pick};\n}}\n";
  };
  const std::string file = "kernels/auto.cpp";
  const std::string code = codes(with(file, rule("1"))).at(file);
  EXPECT_EQ(code.size(), 16U);
  EXPECT_EQ(code, codes(with(file, rule("1", "// A line.\n"))).at(file));
  EXPECT_NE(code, codes(with(file, rule("2"))).at(file));
}

TEST(CodeIdentity, ChangesWithATableThatIsFilledBeforeMain) {
  const auto plan = [](const std::string& first) {
    return "#include \"harness.hpp\"\nnamespace assay {\nnamespace { volatile int zero;\n"
           "float table[] = {float(" +
           first + " + zero), 2}; }\nfloat planned(float x) { return x + table[0]; }\n}\n";
  };
  EXPECT_NE(codes(with("kernels/gemm/plan.cpp", plan("1"))).at("kernels/gemm/threaded.cpp"),
            codes(with("kernels/gemm/plan.cpp", plan("3"))).at("kernels/gemm/threaded.cpp"));
}

TEST(CodeIdentity, ChangesWithFlagsThatMoveCode) {
  EXPECT_THAT(changed(usual, "-falign-functions=256"), ::testing::SizeIs(5));
}

TEST(CodeIdentity, IsUnknownWhereTheTimedLoopIsNotAmongTheObjects) {
  Sources sources = usual;
  sources.erase("reference/gemm.cpp");
  const Codes all = codes(sources);
  EXPECT_EQ(all.at("kernels/gemm/packed.cpp"), "");
  EXPECT_NE(all.at("kernels/relu/flat.cpp"), "");
}

TEST(CodeIdentity, IsUnknownWhenTheMachineCodeIsMadeByTheLinker) {
  const testing::CompiledFolder folder;
  std::string unknown;
  const std::string text = table_of(compiled(folder, usual, "-flto"), folder.path() / "build", unknown);
  EXPECT_THAT(unknown, ::testing::HasSubstr(".cpp.o is "));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("CodeRow")));
}

/// Returns the calls of packed.cpp when `declarations` stand above its kernel, which returns `result`.
std::string calls_of_packed(const std::string& declarations, const std::string& result,
                            const std::string& flags = "") {
  const Sources sources = with("kernels/gemm/packed.cpp", declarations + kernel("return " + result + ";"));
  for (const CodeIdentity& one : identities(sources, flags)) {
    if (one.source == "kernels/gemm/packed.cpp") return lines_of(one.calls);
  }
  return "no such file";
}

constexpr const char* sgemm = "extern \"C\" float cblas_sgemm(float);\n";

TEST(CodeCalls, OfAKernelByItselfAreNone) {
  EXPECT_EQ(calls_of_packed("#include <vector>\n#include <cmath>\n",
                            "std::exp(x) + std::vector<float>(std::size_t(x), x).back()"),
            "");
}

TEST(CodeCalls, NameALibrary) {
  EXPECT_EQ(calls_of_packed(sgemm, "cblas_sgemm(x)"), "openblas cblas_sgemm\n");
}

TEST(CodeCalls, NameALibraryThatIsCalledThroughATableOrAnotherFile) {
  EXPECT_EQ(
      calls_of_packed(sgemm + std::string("float (*volatile table)(float) = cblas_sgemm;\n"), "table(x)"),
      "openblas cblas_sgemm\n");
  Sources sources = with("kernels/gemm/plan.cpp",
                         sgemm + std::string("#include \"harness.hpp\"\nnamespace assay {\n"
                                             "float planned(float x) { return cblas_sgemm(x); }\n}\n"));
  for (const CodeIdentity& one : identities(sources, "")) {
    EXPECT_EQ(lines_of(one.calls), one.source == "kernels/gemm/threaded.cpp" ? "openblas cblas_sgemm\n" : "")
        << one.source;
  }
}

TEST(CodeCalls, NameWhatFindsFunctionsWhileTheProgramRuns) {
  EXPECT_EQ(
      calls_of_packed("#include <dlfcn.h>\n", "dlsym(RTLD_DEFAULT, \"cblas_sgemm\") != nullptr ? x : 0"),
      "dlopen dlsym\n");
}

TEST(CodeCalls, NameThreadsAndTheSystem) {
  EXPECT_EQ(
      calls_of_packed("#include <thread>\n#include <unistd.h>\n", "std::thread([] { usleep(1); }).join(), x"),
      "system usleep\nthreads std::thread::_M_start_thread\n");
}

TEST(CodeCalls, OfFunctionsThatAKernelDoesNotReachAreNotItsOwn) {
  EXPECT_EQ(calls_of_packed(sgemm + std::string("float unused(float x) { return cblas_sgemm(x); }\n"), "x"),
            "");
}

TEST(CodeCalls, AreKnownWhereTheTimedLoopIsNotAmongTheObjects) {
  Sources sources = with("kernels/gemm/packed.cpp", sgemm + kernel("return cblas_sgemm(x);"));
  sources.erase("reference/gemm.cpp");
  bool found = false;
  for (const CodeIdentity& one : identities(sources, "")) {
    if (one.source != "kernels/gemm/packed.cpp") continue;
    found = true;
    EXPECT_EQ(one.code, "");
    EXPECT_EQ(lines_of(one.calls), "openblas cblas_sgemm\n");
  }
  EXPECT_TRUE(found);
}

/// Functions of the C library that files replace, by the row that they are held against.
std::map<std::string, std::vector<std::string>> replaced(const Sources& sources) {
  std::map<std::string, std::vector<std::string>> out;
  for (const CodeIdentity& one : identities(sources, "")) {
    for (const Calls& calls : one.calls) {
      if (calls.to == replaced_of_c_library) out[one.source] = calls.names;
    }
  }
  return out;
}

constexpr const char* own_clock =
    "#include <time.h>\nextern \"C\" int clock_gettime(clockid_t, timespec*) noexcept { return 0; }\n";

TEST(ReplacedFunctions, AreHeldAgainstTheFileThatDefinesThem) {
  EXPECT_THAT(replaced(usual), ::testing::IsEmpty());
  EXPECT_THAT(
      replaced(with("kernels/gemm/packed.cpp", own_clock + kernel("return x;"))),
      ::testing::ElementsAre(::testing::Pair(
          "kernels/gemm/packed.cpp", ::testing::ElementsAre("clock_gettime (kernels/gemm/packed.cpp)"))));
}

TEST(ReplacedFunctions, AreFoundHoweverTheyAreDefined) {
  const char* const ways[] = {
      "extern \"C\" __attribute__((weak)) long syscall(long, ...) { return 0; }\n",
      "extern \"C\" __attribute__((visibility(\"hidden\"))) long syscall(long, ...) { return 0; }\n",
      "asm(\".globl syscall\\n.text\\nsyscall: ret\");\n",
      ("extern \"C\" long mine(long, ...) { return 0; }\nextern \"C\" long syscall(long, ...) "
       "__attribute__((alias(\"mine\")));\n")};
  for (const char* way : ways) {
    EXPECT_THAT(replaced(with("kernels/gemm/packed.cpp", way + kernel("return x;"))), ::testing::SizeIs(1))
        << way;
  }
  const std::string of_cpp[] = {
      "#include <chrono>\nstd::chrono::steady_clock::time_point std::chrono::_V2::steady_clock::now() "
      "noexcept { return {}; }\n",
      "#include <condition_variable>\n"
      "void std::condition_variable::wait(std::unique_lock<std::mutex>&) {}\n"};
  for (const std::string& way : of_cpp) {
    EXPECT_THAT(replaced(with("kernels/gemm/packed.cpp", way + kernel("return x;"))), ::testing::SizeIs(1))
        << way;
  }
}

TEST(ReplacedFunctions, AreNotHeldAgainstThoseWhoCallThem) {
  Sources sources = with("kernels/gemm/packed.cpp", "#include <vector>\n" + std::string(own_clock) +
                                                        kernel("return std::vector<float>(9, x)[3];"));
  sources["kernels/relu/flat.cpp"] =
      "#include <time.h>\n#include <vector>\n" +
      kernel(
          "timespec t{}; clock_gettime(CLOCK_MONOTONIC, &t); return std::vector<float>(9, x)[3] + t.tv_sec;",
          "", "Relu");
  EXPECT_THAT(replaced(sources), ::testing::ElementsAre(Key("kernels/gemm/packed.cpp")));
}

TEST(ReplacedFunctions, OfOtherFilesAreHeldAgainstThoseWhoseCodeTheyArePartOf) {
  Sources sources = usual;
  sources["kernels/gemm/plan.cpp"] = own_clock + usual.at("kernels/gemm/plan.cpp");
  EXPECT_THAT(replaced(sources), ::testing::ElementsAre(Key("kernels/gemm/threaded.cpp")));
  sources = usual;
  sources["kernels/gemm/lone.cpp"] = own_clock;
  EXPECT_THAT(replaced(sources), ::testing::SizeIs(codes(usual).size())) << "nobody knows whose it is";
}

TEST(ReplacedFunctions, AreNoneOfWhatFilesKeepToThemselvesOrMayReplace) {
  const char* const honest[] = {
      "static float expf(float x) { return x; }\nfloat used(float x) { return expf(x); }\n",
      "namespace mine { int clock_gettime() { return 0; } }\n",
      "extern \"C\" { float gamma[16]; int index = 3; extern const float y0[2] = {1, 2}; }\n",
      ("#include <string>\n#include <vector>\n#include <memory>\n#include <thread>\n#include <fstream>\n"
       "std::string text(int n) { std::vector<std::string> v(n, \"a\"); auto p = std::make_shared<int>(n); "
       "std::thread([] {}).join(); std::ifstream in(v[0]); in >> v[0]; return v[*p - 1] + v[0]; }\n"),
      "#include <string>\nbool (*same)(const char&, const char&) = &std::char_traits<char>::eq;\n",
      ("#include <cstdlib>\n#include <new>\nvoid* operator new(std::size_t n) { return std::malloc(n); }\n"
       "void operator delete(void* p) noexcept { std::free(p); }\n")};
  for (const char* one : honest) {
    EXPECT_THAT(replaced(with("kernels/gemm/packed.cpp", one + kernel("return x;"))), ::testing::IsEmpty())
        << one;
  }
}

TEST(CodeTableText, NamesSourcesAsTheProjectDoes) {
  EXPECT_EQ(source_of("/b/kernels/CMakeFiles/assay_kernels_archive.dir/./gemm/packed.cpp.o", "/b"),
            "kernels/gemm/packed.cpp");
  EXPECT_EQ(source_of("/b/CMakeFiles/mine.dir/my_gemm.cpp.o", "/b"), "my_gemm.cpp");
}

TEST(CodeTableText, HoldsCodeAndCallsOfEachFile) {
  const std::string text = table_text({{"kernels/gemm/packed.cpp", "0123456789abcdef", {}},
                                       {"kernels/gemm/simd.cpp", "", {{"tbb", {"tbb::f", "tbb::g"}}}}});
  EXPECT_THAT(text, ::testing::HasSubstr("{R\"(kernels/gemm/packed.cpp)\", \"0123456789abcdef\", R\"()\"},"));
  EXPECT_THAT(text,
              ::testing::HasSubstr("{R\"(kernels/gemm/simd.cpp)\", \"\", R\"(tbb tbb::f\ntbb tbb::g\n)\"},"));
}

TEST(CodeTableText, SaysWhichFileCannotBeRead) {
  const testing::CompiledFolder folder;
  const auto object = folder.write("kernels/CMakeFiles/k.dir/text.cpp.o", "no object");
  std::string unknown;
  EXPECT_EQ(table_of({object}, folder.path(), unknown), table_text({}));
  EXPECT_THAT(unknown, ::testing::HasSubstr("text.cpp.o is no ELF file"));
  table_of({folder.path() / "missing.o"}, folder.path(), unknown);
  EXPECT_THAT(unknown, ::testing::HasSubstr("missing.o cannot be opened"));
}

constexpr CodeRow rows[] = {{"kernels/gemm/packed.cpp", "0123456789abcdef", "tbb tbb::f\n"},
                            {"kernels/gemm/small.cpp", "0123456789abcdef"}};
const CodeTable table{rows};

TEST(CodeTable, KnowsTheLinkedRowsAndNoOthers) {
  EXPECT_EQ(CodeTable::code_of("kernels/gemm/packed.cpp"), "0123456789abcdef");
  EXPECT_EQ(CodeTable::code_of("kernels/gemm/simd.cpp"), "");
  const auto calls = CodeTable::calls_of("kernels/gemm/packed.cpp");
  ASSERT_TRUE(calls.has_value());
  EXPECT_EQ(lines_of(*calls), "tbb tbb::f\n");
  EXPECT_FALSE(CodeTable::calls_of("kernels/gemm/small.cpp").has_value());
  EXPECT_FALSE(CodeTable::calls_of("kernels/gemm/simd.cpp").has_value());
}

}  // namespace

}  // namespace assay

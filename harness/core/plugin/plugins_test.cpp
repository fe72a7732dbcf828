// Libraries that describe themselves wrongly: each is refused with a message that says what to mend.

#include "assay/error.hpp"
#include "core/code/calls.hpp"
#include "core/code/compiled_test.hpp"
#include "core/machine/clock.hpp"
#include "core/plugin/library.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;

/// y = 2 x, the operation `twice`, whose functions a test can exchange one by one.
struct Functions {
  std::function<int(assay_tensor*)> describe = [](assay_tensor*) { return 2; };
  std::function<int(const assay_tensor*)> reference = [](const assay_tensor* t) {
    for (int64_t i = 0; i < t[0].size; ++i) {
      static_cast<double*>(t[1].data)[i] = 2 * static_cast<const double*>(t[0].data)[i];
    }
    return 0;
  };
  std::function<int(double*)> bound = [](double*) { return 0; };
  std::function<void(double*)> cost = [](double*) {};
  std::function<int()> run = [] { return 0; };
};
Functions functions;

int describe(const assay_problem* problem, assay_tensor* t, size_t) {
  for (int i = 0; i < 2; ++i) {
    t[i] = {};
    t[i].name = i == 0 ? "x" : "y";
    t[i].type = ASSAY_F32;
    t[i].use = i == 0 ? ASSAY_INPUT : ASSAY_OUTPUT;
    t[i].axes = 1;
    t[i].extent[0] = problem->fields[0].value;
  }
  return functions.describe(t);
}
int reference(const assay_problem*, const assay_tensor* t, size_t) { return functions.reference(t); }
int bound(const assay_problem*, const assay_tensor* t, size_t) {
  return functions.bound(static_cast<double*>(t[1].data));
}
void cost(const assay_problem*, double* flops, double*, double*) { functions.cost(flops); }
int run(void*, const assay_problem*, const assay_tensor* t, size_t) {
  for (int64_t i = 0; i < t[0].size; ++i) {
    static_cast<float*>(t[1].data)[i] = 2 * static_cast<const float*>(t[0].data)[i];
  }
  return functions.run();
}
int fails(void*) { return 4; }
const char* reason(void*) { return "the device is gone"; }

/// A library with one of everything.
struct Library {
  const char* corner_cases[1] = {"n=3"};
  assay_rule rules[2] = {{"n", 1, 100, 0, 0, 0}, {"mode", 0, 1, 1, 0, 0}};
  assay_operation operation{};
  assay_kernel kernel{};
  const assay_operation* operations[2] = {&operation, &operation};
  const assay_kernel* kernels[2] = {&kernel, &kernel};
  assay_plugin plugin{};

  Library() {
    functions = {};
    operation.size = sizeof operation;
    operation.name = "twice";
    operation.rule_count = std::size(rules);
    operation.rules = rules;
    operation.corner_case_count = std::size(corner_cases);
    operation.corner_cases = corner_cases;
    operation.describe = describe;
    operation.reference = reference;
    kernel.size = sizeof kernel;
    kernel.operation = "twice";
    kernel.name = "mine";
    kernel.run = run;
    plugin = {.abi = ASSAY_PLUGIN_ABI,
              .size = sizeof plugin,
              .provider = nullptr,
              .revision = nullptr,
              .operation_count = 1,
              .operations = operations,
              .kernel_count = 1,
              .kernels = kernels};
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

/// The first complaint about a library, from its description to a call of its kernel; empty when there is
/// none.
std::string complaint(const Library& library) {
  try {
    Registry registry;
    // By a name of its own: a reference is asked twice for one answer in the first library of a name only.
    static int number = 0;
    add_plugin(registry, std::to_string(++number) + ". library", library.plugin);
    const Operation& twice = registry.at("twice");
    static_cast<void>(twice.cost("n=3"));
    const auto workload = twice.open("n=3", {.fill = Fill::uniform});
    for (std::size_t v = 0; v < twice.variants().size(); ++v) {
      const Agreement found = workload->check(v, {}, Workload::no_rehearsal);
      if (!found.agrees) return found.detail;
    }
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

struct Malformed {
  const char* name;
  std::function<void(Library&)> spoil;
  const char* complaint;
};
void PrintTo(const Malformed& malformed, std::ostream* out) { *out << malformed.name; }

class MalformedPlugin : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedPlugin, IsRefusedWithWhatToMend) {
  Library library;
  GetParam().spoil(library);
  EXPECT_THAT(complaint(library), HasSubstr(GetParam().complaint));
}

/// Spoils what describe() says of the tensors x and y.
std::function<void(Library&)> tensors(std::function<int(assay_tensor*)> spoil) {
  return [spoil](Library&) { functions.describe = spoil; };
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t most = std::numeric_limits<int64_t>::max();

const Malformed structures[] = {
    {"OtherVersion", [](Library& l) { l.plugin.abi = 7; },
     "library: was made for version 7 of the interface, and this program knows version 1"},
    {"NoSize", [](Library& l) { l.plugin.size = 0; }, "the size of the plug-in is 0 and not"},
    {"NoOperations", [](Library& l) { l.plugin.operations = nullptr; }, "the list of operations is NULL"},
    {"NoKernels", [](Library& l) { l.plugin.kernels = nullptr; }, "the list of kernels is NULL"},
    {"NoOperation", [](Library& l) { l.operations[0] = nullptr; }, "operation 0 is NULL"},
    {"OperationOfNoSize", [](Library& l) { l.operation.size = 8; }, "the size of operation 0 is 8 and not"},
    {"OperationWithoutName", [](Library& l) { l.operation.name = nullptr; },
     "the name of operation 0 is NULL"},
    {"NoDescribe", [](Library& l) { l.operation.describe = nullptr; }, "describe of operation twice is NULL"},
    {"NoReference", [](Library& l) { l.operation.reference = nullptr; },
     "reference of operation twice is NULL"},
    {"NoRules", [](Library& l) { l.operation.rules = nullptr; }, "the rules of twice is NULL"},
    {"NoCornerCase", [](Library& l) { l.operation.corner_case_count = 0; },
     "operation twice has no corner case"},
    {"NoCornerCases", [](Library& l) { l.operation.corner_cases = nullptr; },
     "the list of corner cases of twice is NULL"},
    {"NoKernel", [](Library& l) { l.kernels[0] = nullptr; }, "kernel 0 is NULL"},
    {"KernelOfNoSize", [](Library& l) { l.kernel.size = 0; }, "the size of kernel 0 is 0 and not"},
    {"KernelOfNoOperation", [](Library& l) { l.kernel.operation = nullptr; },
     "the operation of kernel 0 is NULL"},
    {"KernelWithoutName", [](Library& l) { l.kernel.name = nullptr; }, "the name of kernel 0 is NULL"},
    {"NoRun", [](Library& l) { l.kernel.run = nullptr; }, "run of kernel twice/mine is NULL"}};

const Malformed names[] = {
    {"EmptyOperation", [](Library& l) { l.operation.name = ""; }, "not a usable operation name"},
    {"OperationOfTwoWords", [](Library& l) { l.operation.name = "two words"; },
     "two words: not a usable operation name"},
    {"RepeatedOperation", [](Library& l) { l.plugin.operation_count = 2; },
     "twice: two contracts have this name"},
    {"KernelWithABadName", [](Library& l) { l.kernel.name = "My-Kernel"; },
     "twice/My-Kernel: not a usable variant name"},
    {"EmptyKernel", [](Library& l) { l.kernel.name = ""; }, "twice/: not a usable variant name"},
    {"RepeatedKernel", [](Library& l) { l.plugin.kernel_count = 2; }, "twice/mine: registered twice"},
    {"KernelOfAnotherOperation", [](Library& l) { l.kernel.operation = "thrice"; },
     "thrice: unknown operation"},
    {"FieldWithoutName", [](Library& l) { l.rules[0].name = nullptr; },
     "the rule of field '' of twice makes no sense"},
    {"RepeatedField", [](Library& l) { l.rules[1].name = "n"; },
     "the rule of field 'n' of twice makes no sense"},
    {"FieldWithoutValues", [](Library& l) { l.rules[0].low = 101; },
     "the rule of field 'n' of twice makes no sense"},
    {"FallbackOutside", [](Library& l) { l.rules[1].fallback = 2; },
     "the rule of field 'mode' of twice makes no sense"},
    {"UnknownFieldOfACornerCase", [](Library& l) { l.corner_cases[0] = "n=3,k=2"; },
     "corner case of twice: unknown field 'k'"},
    {"CornerCaseOutOfRange", [](Library& l) { l.corner_cases[0] = "n=0"; },
     "corner case of twice: field 'n' is 0, out of range"},
    {"CornerCaseThatIsNull", [](Library& l) { l.corner_cases[0] = nullptr; },
     "corner case of twice: field 'n' is missing"}};

const Malformed described[] = {
    {"Refusal", tensors([](assay_tensor*) { return -1; }),
     "library: twice/n=3,mode=0: describe() returned -1: the problem makes no sense to it"},
    {"TooManyTensors", tensors([](assay_tensor*) { return ASSAY_MOST_TENSORS + 1; }),
     "describe() returned 33 tensors, and 32 are the most"},
    {"NoTensors", tensors([](assay_tensor*) { return 0; }), "describe() named no output"},
    {"NoOutput", tensors([](assay_tensor*) { return 1; }), "describe() named no output"},
    {"TensorWithoutName", tensors([](assay_tensor* t) { return t[0].name = nullptr, 2; }),
     "describe() left a tensor without a name"},
    {"RepeatedTensor", tensors([](assay_tensor* t) { return t[1].name = "x", 2; }),
     "describe() named two tensors x"},
    {"UnknownType", tensors([](assay_tensor* t) { return t[0].type = 9, 2; }),
     "describe() gave x the type 9, which is none"},
    {"NegativeType", tensors([](assay_tensor* t) { return t[0].type = -1, 2; }),
     "describe() gave x the type -1, which is none"},
    {"TypeOfAssayAlone", tensors([](assay_tensor* t) { return t[0].type = ASSAY_OTHER, 2; }),
     "describe() gave x the type 7, which is none"},
    {"UnknownUse", tensors([](assay_tensor* t) { return t[1].use = 4, 2; }),
     "describe() gave y the use 4, which is none"},
    {"TooManyAxes", tensors([](assay_tensor* t) { return t[0].axes = 9, 2; }), "describe() gave x 9 axes"},
    {"NegativeAxes", tensors([](assay_tensor* t) { return t[0].axes = -1, 2; }), "describe() gave x -1 axes"},
    {"NegativeExtent", tensors([](assay_tensor* t) { return t[0].extent[0] = -3, 2; }),
     "describe() gave x an extent of -3"},
    {"TooManyElements", tensors([](assay_tensor* t) { return t[1].extent[0] = most, 2; }),
     "describe() asks for more than 2^40 elements, with y"},
    {"OverflowThatAZeroHides", tensors([](assay_tensor* t) {
       t[0].axes = 3;
       t[0].extent[0] = t[0].extent[1] = most;
       t[0].extent[2] = 0;
       return 2;
     }),
     "describe() asks for more than 2^40 elements, with x"},
    {"IntegersFromNowhere", tensors([](assay_tensor* t) {
       t[0].type = ASSAY_I32;
       t[0].low = 5;
       t[0].high = 4;
       return 2;
     }),
     "describe() gave x numbers from 5 to 4"},
    {"InputAfterOutput", tensors([](assay_tensor* t) {
       std::swap(t[0].use, t[1].use);
       return 2;
     }),
     "describe() named the input y after an output"},
    {"NegativeWork",
     [](Library& l) {
       l.operation.cost = cost;
       functions.cost = [](double* flops) { *flops = -1; };
     },
     "cost() gave -1"},
    {"WorkThatIsNoNumber",
     [](Library& l) {
       l.operation.cost = cost;
       functions.cost = [](double* flops) { *flops = nan; };
     },
     "cost() gave nan"}};

const Malformed called[] = {
    {"ReferenceThatFails", [](Library&) { functions.reference = [](const auto*) { return 3; }; },
     "library: twice/n=3,mode=0: reference() returned 3 and not 0"},
    {"ReferenceThatWritesNothing", [](Library&) { functions.reference = [](const auto*) { return 0; }; },
     "the reference of twice leaves y[0] unwritten"},
    {"ReferenceOfTwoMinds",
     [](Library&) {
       functions.reference = [calls = 0](const assay_tensor* t) mutable {
         std::fill_n(static_cast<double*>(t[1].data), t[1].size, ++calls);
         return 0;
       };
     },
     "the reference of twice gives two results for one input"},
    {"BoundThatFails",
     [](Library& l) {
       l.operation.bound = bound;
       functions.bound = [](double*) { return 5; };
     },
     "bound() returned 5 and not 0"},
    {"NegativeBound",
     [](Library& l) {
       l.operation.bound = bound;
       functions.bound = [](double* y) { return y[0] = 0, y[1] = -1, y[2] = 0, 0; };
     },
     "bound() of twice allows y[1] an error of -1"},
    {"BoundThatIsNoNumber",
     [](Library& l) {
       l.operation.bound = bound;
       functions.bound = [](double* y) { return std::fill_n(y, 3, nan), 0; };
     },
     "bound() of twice allows y[0] an error of nan"},
    {"RunThatFails", [](Library&) { functions.run = [] { return 7; }; }, "run() returned 7 and not 0"},
    {"RunThatFailsAndSaysWhy",
     [](Library& l) {
       l.kernel.failure = reason;
       functions.run = [] { return 7; };
     },
     "run() failed: the device is gone"},
    {"SynchronizeThatFails", [](Library& l) { l.kernel.synchronize = fails; },
     "synchronize() returned 4 and not 0"},
    {"RunThatThrows",
     [](Library&) { functions.run = []() -> int { throw std::runtime_error("out of patience"); }; },
     "out of patience"}};

const auto name_of_case = [](const auto& instance) { return instance.param.name; };
INSTANTIATE_TEST_SUITE_P(Structures, MalformedPlugin, ::testing::ValuesIn(structures), name_of_case);
INSTANTIATE_TEST_SUITE_P(Names, MalformedPlugin, ::testing::ValuesIn(names), name_of_case);
INSTANTIATE_TEST_SUITE_P(Described, MalformedPlugin, ::testing::ValuesIn(described), name_of_case);
INSTANTIATE_TEST_SUITE_P(Called, MalformedPlugin, ::testing::ValuesIn(called), name_of_case);

/// A process may say this when a library has written to it.
TEST(PluginAnswer, IsDoubtedByWhoeverAsked) {
  const auto complaint_of = [](const std::string& type, const std::string& extents,
                               const std::string& flops) {
    try {
      plugin_problem_from(R"({"tensors": [{"name": "y", "type": )" + type + R"(, "use": 2, "extents": [)" +
                              extents + R"(], "low": 0, "high": 0}], "flops": )" + flops +
                              R"(, "bytes_read": 0, "bytes_written": 12})",
                          "library");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint_of("0", "3", "6"), "");
  EXPECT_THAT(complaint_of("9", "3", "6"), HasSubstr("library: describe() gave y the type 9, which is none"));
  EXPECT_THAT(complaint_of("0", "1,1,1,1,1,1,1,1,1", "6"), HasSubstr("describe() gave y 9 axes"));
  EXPECT_THAT(complaint_of("0", "4294967296,4294967296", "6"), HasSubstr("more than 2^40 elements"));
  EXPECT_THAT(complaint_of("0", "3", "\"nan\""), HasSubstr("cost() gave nan"));
}

TEST(Plugin, HasNothingToComplainOfWhereTheLibraryIsRight) {
  EXPECT_EQ(complaint(Library()), "");
  Library library;
  library.operation.bound = bound;
  functions.bound = [](double* y) { return std::fill_n(y, 3, 1e-6), 0; };
  EXPECT_EQ(complaint(library), "");
}

TEST(Plugin, HasNoClockOfItsOwnUnlessItUsesAnAccelerator) {
  Library library;
  library.kernel.seconds = [](void*) { return 1e-9; };
  const auto own_seconds = [&](const char* name) {
    Registry registry;
    add_plugin(registry, name, library.plugin);
    const Operation& twice = registry.at("twice");
    const auto site =
        twice.variants()[0].name == "mine" ? twice.variants()[0].site : twice.variants()[1].site;
    EXPECT_EQ(site, library.kernel.synchronize == nullptr ? Site::here_with_own_clock
                                                          : Site::elsewhere_by_own_clock);
    const auto workload = twice.open("n=5", {});
    const auto timed = workload->timed(twice.variants()[0].name == "mine" ? 0 : 1, {});
    timed->repeat(1);
    return timed->own_seconds();
  };
  EXPECT_EQ(own_seconds("waits for nothing"), std::nullopt);
  library.kernel.synchronize = [](void*) { return 0; };
  EXPECT_EQ(own_seconds("has no accelerator"), std::nullopt);
}

TEST(Plugin, IsRefusedWhereAnOperationOfTheProgramHasItsName) {
  const Library library;
  Registry registry;
  add_plugin(registry, "first", library.plugin);
  EXPECT_THAT([&] { add_plugin(registry, "second", library.plugin); },
              ::testing::ThrowsMessage<Error>(HasSubstr("second: twice: two contracts have this name")));
}

TEST(Plugin, UpdatesInPlaceWhatItsReferenceUpdates) {
  Library library;
  functions.describe = [](assay_tensor* t) { return t[1].use = ASSAY_INOUT, 2; };
  EXPECT_EQ(complaint(library), "");
  Registry registry;
  add_plugin(registry, "library", library.plugin);
  EXPECT_TRUE(registry.at("twice").open("n=5", {})->timed(0, {})->updates_in_place());
}

/// As assay/plugin.h has it.
constexpr const char* plugin_of_nothing =
    "extern \"C\" __attribute__((visibility(\"default\"))) const void* assay_plugin_v1() {\n"
    "  static const struct { unsigned abi, size; const char* texts[2]; unsigned long lists[4]; } plugin{1, "
    "sizeof plugin, {}, {}};\n  return &plugin;\n}\n";

/// Loading fails or ends the process that tries: each message names the file.
TEST(Plugin, HasItsIntegersComparedAsIntegers) {
  Library library;
  functions.describe = [](assay_tensor* t) {
    t[1].type = ASSAY_I64;
    return 2;
  };
  constexpr std::int64_t large = std::int64_t{1} << 53;  // as a double, this and the next are one number
  static std::int64_t written;
  functions.reference = [](const assay_tensor* t) {
    for (int64_t i = 0; i < t[1].size; ++i) static_cast<std::int64_t*>(t[1].data)[i] = large + 1;
    return 0;
  };
  library.kernel.run = [](void*, const assay_problem*, const assay_tensor* t, size_t) {
    for (int64_t i = 0; i < t[1].size; ++i) static_cast<std::int64_t*>(t[1].data)[i] = written;
    return 0;
  };
  written = large + 1;
  EXPECT_EQ(complaint(library), "");
  written = large;
  EXPECT_EQ(complaint(library),
            "y[0] is 9007199254740992, expected 9007199254740993; 3 of 3 compared elements disagree");
}

TEST(PluginFile, IsRefusedWhereItCannotBeLoaded) {
  const testing::CompiledFolder folder;
  const auto refusal = [](const std::filesystem::path& file) {
    Registry registry;
    try {
      add_plugin(registry, file, false);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto compiled = [&](const std::string& name, const std::string& text) {
    const auto source = folder.write(name + ".cpp", text);
    return folder.compile(name + ".so", "-shared '" + source.string() + "'");
  };
  EXPECT_THAT(refusal(folder.path() / "none.so"), HasSubstr("none.so: there is no such file"));
  EXPECT_THAT(refusal(folder.write("text.so", "no library")), HasSubstr("text.so: cannot be loaded: "));
  EXPECT_THAT(refusal(compiled("needy", "void missing(); void (*address)() = missing;")),
              HasSubstr("needy.so: cannot be loaded: "));
  EXPECT_THAT(refusal(compiled("other", "int other() { return 0; }")),
              HasSubstr("other.so: is no plug-in: it has no function assay_plugin_v1"));
  const std::string entry = "extern \"C\" const void* assay_plugin_v1() { ";
  EXPECT_THAT(refusal(compiled("null", entry + "return nullptr; }")),
              HasSubstr("null.so: what assay_plugin_v1() returns is NULL"));
  EXPECT_THAT(refusal(compiled("crash", entry + "__builtin_trap(); }")),
              HasSubstr("crash.so: assay_plugin_v1() was ended by signal"));
  EXPECT_THAT(refusal(compiled("thrower", entry + "throw 3; }")), HasSubstr("thrower.so: "));
}

/// Whether a plug-in with these functions beside it is told to have replaced some of the C library's; which.
std::vector<std::string> replaced_by(const std::string& own, const std::string& flags = "") {
  const testing::CompiledFolder folder;
  const auto source = folder.write("own.cpp", own + plugin_of_nothing);
  const PluginLibrary library(folder.compile("own.so", flags + " -shared '" + source.string() + "'"));
  const std::vector<Calls> all = library.calls().value();
  for (const Calls& calls : all) {
    if (calls.to == replaced_of_c_library) return calls.names;
  }
  return {};
}

TEST(PluginFile, IsToldWhichFunctionsOfTheCLibraryItReplaces) {
  const std::string clock =
      "#include <time.h>\nextern \"C\" int clock_gettime(clockid_t, timespec*) noexcept { return 0; }\n";
  EXPECT_THAT(replaced_by(""), ::testing::IsEmpty());
  EXPECT_THAT(replaced_by(clock), ::testing::ElementsAre("clock_gettime (own.so)"));
  EXPECT_THAT(replaced_by(clock, "-fvisibility=hidden"), ::testing::IsEmpty());
  EXPECT_THAT(
      replaced_by("#include <cstdlib>\nextern \"C\" void* malloc(std::size_t) noexcept { return nullptr; }"
                  "\nextern \"C\" void free(void*) noexcept {}\n"),
      ::testing::IsEmpty())
      << "an allocator of its own";
}

/// The loader looks names up in the program and its libraries first, so that none of this is called by them.
TEST(PluginFile, CannotReplaceFunctionsOfTheProgram) {
  const testing::CompiledFolder folder;
  const auto source = folder.write(
      "own.cpp",
      "#include <time.h>\n#include <chrono>\nextern \"C\" int clock_gettime(clockid_t, timespec* t) noexcept "
      "{ "
      "*t = {}; return 0; }\nstd::chrono::steady_clock::time_point std::chrono::_V2::steady_clock::now() "
      "noexcept { return {}; }\nnamespace assay { double system_seconds(clockid_t) { return 0; } }\n" +
          std::string(plugin_of_nothing));
  const PluginLibrary library(folder.compile("own.so", "-shared '" + source.string() + "'"));
  library.load();
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  EXPECT_GT(now.tv_sec + now.tv_nsec, 0);
  EXPECT_NE(std::chrono::steady_clock::now().time_since_epoch().count(), 0);
  EXPECT_GT(system_seconds(CLOCK_MONOTONIC), 0);
}

}  // namespace
}  // namespace assay

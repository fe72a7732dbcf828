#include "core/code/calls.hpp"

#include "assay/code_table.hpp"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StrEq;

TEST(Calls, AreWrittenAsPeopleDo) {
  EXPECT_EQ(readable("cblas_sgemm"), "cblas_sgemm");
  EXPECT_EQ(readable("memcpy@GLIBC_2.2.5"), "memcpy");
  EXPECT_EQ(readable("_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE"),
            "tbb::detail::r1::spawn");
  EXPECT_EQ(readable("_ZTVSt13basic_filebufIcSt11char_traitsIcEE"), "std::basic_filebuf") << "a table";
  EXPECT_EQ(readable("_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode"),
            "std::basic_filebuf::open");
  EXPECT_EQ(readable("_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l"),
            "std::__ostream_insert")
      << "with a result";
  EXPECT_EQ(readable("_Znwm"), "operator new");
  EXPECT_EQ(readable("_ZNK6peerns3mulclEff"), "peerns::mul::operator()");
  EXPECT_EQ(readable("_ZN6peernslsIfEERNS_3mulES2_T_"), "peerns::operator<< <float>");
  EXPECT_EQ(readable("_Z9operatorsi"), "operators");
  EXPECT_EQ(readable("_Z!"), "_Z!");
}

// One name for each row of the table, and those that no row has.
TEST(Calls, BelongToTheFirstRowThatNamesThem) {
  const std::pair<const char*, const char*> expected[] = {
      {"assay::Registry::linked", "registry"},
      {"assay::Registry::validate", ""},
      {"assay::Register::Register", ""},
      {"pthread_create", "threads"},
      {"std::thread::_M_start_thread", "threads"},
      {"GOMP_parallel_loop_dynamic", "threads"},
      {"__kmpc_fork_call", "threads"},
      {"GOMP_barrier", ""},
      {"omp_get_thread_num", ""},
      {"__kmpc_for_static_init_4", ""},
      {"pthread_mutex_lock", ""},
      {"dlsym", "dlopen"},
      {"dlopen", "dlopen"},
      {"std::filesystem::__cxx11::path::_M_split_cmpts", ""},
      {"std::filesystem::status", "system"},
      {"std::basic_ifstream", "system"},
      {"std::chrono::_V2::steady_clock::now", "system"},
      {"syscall", "system"},
      {"io_uring_queue_init", "system"},
      {"std::__throw_bad_alloc", ""},
      {"operator new", ""},
      {"operator delete[]", ""},
      {"__cxa_throw", ""},
      {"memcpy", ""},
      {"__memcpy_chk", ""},
      {"strlen", ""},
      {"_ZGVbN4v_expf", ""},
      {"__udivti3", ""},
      {"__truncsfbf2", ""},
      {"__stack_chk_fail", ""},
      {"__asan_report_load4", ""},
      {"__ubsan_handle_add_overflow_abort", ""},
      {"hwy::SupportedTargets", ""},
      {"cblas_sgemm", "openblas"},
      {"openblas_set_num_threads", "openblas"},
      {"sgemm_", "openblas"},
      {"dnnl_sgemm", "onednn"},
      {"tbb::detail::r1::spawn", "tbb"},
      {"mkl_malloc", "mkl"},
      {"bli_gemm", "blis"},
      // The library of mathematics, and what else is in that of C.
      {"expf", ""},
      {"lgamma", ""},
      {"mmap", "system"},
      {"open", "system"},
      {"fork", "system"},
      {"sched_yield", "system"},
      {"sigaction", "system"},
      {"memfd_create", "system"},
      {"clock_gettime", "system"},
      {"pthread_setaffinity_np", "system"},
      // Everything else.
      {"rocblas_sgemm", "rocblas"},
      {"strassen_sgemm", "strassen"},
      {"exp_of_somebody", "exp"},
      {"Eigen::internal::gebp", "Eigen"},
      {"multiply", "multiply"},
      {"_multiply", "_multiply"},
      {"__multiply", "__multiply"}};
  for (const auto& [name, to] : expected) EXPECT_EQ(callee_of(name), to) << name;
}

TEST(Calls, AreKeptInATableOfCode) {
  const std::vector<Calls> calls =
      calls_of({"memcpy", "cblas_sgemm", "pthread_create", "cblas_sgemv",
                "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE"});
  // An announced table stays linked as long as the program runs.
  static constexpr std::string_view lines =
      "openblas cblas_sgemm\nopenblas cblas_sgemv\ntbb tbb::detail::r1::spawn\nthreads pthread_create\n";
  EXPECT_EQ(lines_of(calls), lines);
  static constexpr std::string_view others = "peer peerns::operator<< <float>\n";
  static const CodeRow rows[]{
      {"calls", "", lines}, {"none", "", ""}, {"others", "", others}, {"unknown", ""}};
  static const CodeTable table(rows);
  EXPECT_EQ(lines_of(CodeTable::calls_of("calls").value()), lines);
  EXPECT_THAT(CodeTable::calls_of("none").value(), IsEmpty());
  EXPECT_EQ(lines_of(CodeTable::calls_of("others").value()), others);
  EXPECT_FALSE(CodeTable::calls_of("unknown"));
}

TEST(Calls, OfManyFunctionsAreCounted) {
  EXPECT_EQ(in_words({"system", {"mmap", "munmap", "open"}}), "system (mmap, munmap, open)");
  EXPECT_EQ(in_words({"system", {"close", "mmap", "munmap", "open"}}), "system (close, mmap, 2 more)");
}

/// Returns the fault of a declaration; empty when there is none.
std::string fault(std::vector<std::string> libraries, std::optional<std::vector<Calls>> calls) {
  VariantInfo variant;
  variant.libraries = std::move(libraries);
  variant.calls = std::move(calls);
  const Agreement found = agreement_of_declaration(variant);
  EXPECT_EQ(found.agrees, found.detail.empty());
  return found.detail;
}

TEST(Declaration, MustNameEachLibraryThatIsCalled) {
  const std::vector<Calls> calls{
      {"openblas", {"cblas_sgemm", "cblas_sgemv"}}, {"system", {"mmap"}}, {"threads", {"pthread_create"}}};
  EXPECT_THAT(fault({}, calls),
              StrEq("calls cblas_sgemm, cblas_sgemv, which it does not declare: add .libraries = "
                    "{\"openblas\"}"));
  EXPECT_THAT(fault({"openblas"}, calls), IsEmpty());
  EXPECT_THAT(fault({"cblas"}, calls), IsEmpty()) << "by the prefix";
  EXPECT_THAT(fault({"cblas_sgemm", "cblas_sgemv"}, calls), IsEmpty()) << "by whole names";
  EXPECT_THAT(fault({"cblas_sgemm"}, calls), ::testing::StartsWith("calls cblas_sgemv, which"));
}

TEST(Declaration, MayNameMoreThanIsCalled) {
  const auto unreached = [](std::vector<std::string> libraries, std::optional<std::vector<Calls>> calls) {
    EXPECT_THAT(fault(libraries, calls), IsEmpty());
    VariantInfo variant;
    variant.libraries = std::move(libraries);
    variant.calls = std::move(calls);
    return unreached_libraries(variant);
  };
  EXPECT_THAT(unreached({"threads"}, std::vector<Calls>{}), ElementsAre("threads"));
  EXPECT_THAT(unreached({"openblas", "onednn"}, std::vector<Calls>{{"openblas", {"cblas_sgemm"}}}),
              ElementsAre("onednn"));
  EXPECT_THAT(unreached({"onednn", "dlopen"}, std::vector<Calls>{{"dlopen", {"dlsym"}}}), IsEmpty());
  EXPECT_THAT(unreached({"openblas"}, std::nullopt), IsEmpty());
}

TEST(Declaration, MustSayThatFunctionsAreFoundWhileItRuns) {
  const std::vector<Calls> calls{{"dlopen", {"dlopen", "dlsym"}}};
  EXPECT_THAT(fault({}, calls),
              StrEq("calls dlopen, dlsym, which hides what else it calls, and does not declare it: add "
                    ".libraries = {\"dlopen\"}"));
  EXPECT_THAT(fault({"dlopen", "openblas"}, calls), IsEmpty());
}

TEST(Declaration, ExcusesNoFunctionThatReplacesOneOfTheCLibrary) {
  EXPECT_THAT(
      fault({"replaced", "clock_gettime", "system"},
            std::vector<Calls>{{std::string(replaced_of_c_library), {"clock_gettime (kernels/a.cpp)"}}}),
      ::testing::StartsWith("defines clock_gettime (kernels/a.cpp), which the C library has"));
}

TEST(Declaration, IsNotJudgedWhereTheCallsAreUnknown) {
  EXPECT_THAT(fault({"openblas"}, std::nullopt), IsEmpty());
}

}  // namespace
}  // namespace assay

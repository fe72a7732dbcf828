// Tells LeakSanitizer to ignore the memory that Clang's OpenMP run-time keeps until the process ends, in
// tests that start teams of many sizes.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp\n"; }

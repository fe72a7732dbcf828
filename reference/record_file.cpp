#include "assay/ops/record_file.hpp"

#include "assay/error.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace assay {
namespace {

/// A mapping as the handler sees it: no locks, no memory of the heap.
struct Place {
  std::atomic<bool> taken = false;
  std::atomic<std::uintptr_t> begin = 0, end = 0;  ///< nothing while begin is 0
  std::atomic<bool> lost = false;
};

/// Room for as many mappings as a process holds at once; a workload holds one or two per variant.
std::array<Place, 512> places;

struct sigaction handler_before;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Whether the address was in a mapping of ours and can be read now.
bool replaced_by_zeros(std::uintptr_t address) {
  for (Place& place : places) {
    const std::uintptr_t begin = place.begin.load(std::memory_order_acquire);
    const std::uintptr_t end = place.end.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= end) continue;
    place.lost.store(true, std::memory_order_release);
    // Maps to the end at once: page by page, a kernel that reads at random would leave a mapping for each.
    const std::uintptr_t page = address / page_bytes() * page_bytes();
    // Called by number, because sanitizers wrap mmap() in code that must not run inside a handler.
    const long status = ::syscall(SYS_mmap, page, end - page, PROT_READ,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    return static_cast<std::uintptr_t>(status) == page;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool ours = replaced_by_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr));
  errno = saved;
  if (ours) return;
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) {
    handler_before.sa_sigaction(signal, info, context);
  } else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) {
    handler_before.sa_handler(signal);
  } else {
    // The read is tried again, and the fault ends the program as it would have without us.
    ::sigaction(SIGBUS, &handler_before, nullptr);
  }
}

void install_once() {
  static const bool done = [] {
    page_bytes();  // a function's static is not initialised inside a handler
    struct sigaction action = {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, &handler_before) == 0;
  }();
  static_cast<void>(done);
}

/// Returns -1 when all are taken.
int take_place(const std::byte* begin, std::size_t bytes) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    bool expected = false;
    if (!places[i].taken.compare_exchange_strong(expected, true)) continue;
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    places[i].lost.store(false);
    places[i].end.store(first + (bytes + page_bytes() - 1) / page_bytes() * page_bytes());
    places[i].begin.store(first);
    return static_cast<int>(i);
  }
  return -1;
}

void give_back(int place) {
  Place& mine = places[static_cast<std::size_t>(place)];
  mine.begin.store(0);
  mine.end.store(0);
  mine.taken.store(false);
}

}  // namespace

GuardedMapping::GuardedMapping(int descriptor, Index bytes, Pages pages) {
  install_once();
  const auto size = static_cast<std::size_t>(bytes);
  const int flags = MAP_SHARED | (pages == Pages::populated ? MAP_POPULATE : 0);
  void* const at = ::mmap(nullptr, size, PROT_READ, flags, descriptor, 0);
  if (at == MAP_FAILED) return;
  const int place = take_place(static_cast<const std::byte*>(at), size);
  if (place < 0) {
    ::munmap(at, size);
    errno = EMFILE;
    return;
  }
  if (pages == Pages::at_random) ::madvise(at, size, MADV_RANDOM);
  data_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
  place_ = place;
}

GuardedMapping::~GuardedMapping() {
  if (data_ == nullptr) return;
  // The place first: once unmapped, the addresses may be another mapping's.
  give_back(place_);
  ::munmap(data_, static_cast<std::size_t>(bytes_));
}

void GuardedMapping::swap(GuardedMapping& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(place_, other.place_);
}

bool GuardedMapping::lost() const {
  return place_ >= 0 && places[static_cast<std::size_t>(place_)].lost.load(std::memory_order_acquire);
}

double GuardedMapping::resident() const {
  if (data_ == nullptr) return 0;
  const std::size_t pages = (static_cast<std::size_t>(bytes_) + page_bytes() - 1) / page_bytes();
  std::vector<unsigned char> in_memory(pages);
  if (::mincore(data_, static_cast<std::size_t>(bytes_), in_memory.data()) != 0) return 0;
  const auto count = std::ranges::count_if(in_memory, [](unsigned char page) { return (page & 1) != 0; });
  return static_cast<double>(count) / static_cast<double>(pages);
}

void GuardedMapping::map_pages() const {
  // MADV_POPULATE_READ is not enough: on virtual machines the first read of a page that is mapped costs
  // microseconds, too, while the host's translation of it is found.
  const auto step = static_cast<Index>(page_bytes());
  for (Index at = 0; at < bytes_; at += step) {
    static_cast<void>(*reinterpret_cast<const volatile char*>(data_ + at));
  }
}

void GuardedMapping::unmap_pages() const {
  if (data_ != nullptr) ::madvise(data_, static_cast<std::size_t>(bytes_), MADV_DONTNEED);
}

namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little,
              "the format is read and written as it lies in memory");

constexpr std::array<char, 8> magic{'A', 'S', 'S', 'A', 'Y', 'R', 'E', 'C'};

struct Header {
  std::array<char, 8> magic = assay::magic;
  std::uint32_t version = record_file_version;
  std::uint32_t header_bytes = static_cast<std::uint32_t>(record_file_header_bytes);
  std::uint64_t record_bytes = 0, records = 0, checksum = 0, header_checksum = 0;
};
static_assert(sizeof(Header) == 48);

std::uint64_t checksum_of(const Header& header) {
  return digest(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_checksum)));
}

/// The checksum of records is that of their digests in order, so that blocks of any size give the same.
std::uint64_t add_records(std::uint64_t checksum, std::span<const std::byte> block, Index record_bytes) {
  for (const auto size = static_cast<std::size_t>(record_bytes); !block.empty();
       block = block.subspan(size)) {
    checksum = (std::rotl(checksum, 29) ^ digest(block.first(size))) * 0x9fb21c651e98df25U;
  }
  return checksum;
}

[[noreturn]] void cannot(const std::string& name, const std::string& doing, int code,
                         const std::string& remedy) {
  throw Error(name, "cannot " + doing + ": " + std::generic_category().message(code), remedy);
}

/// Records first and the header last, which holds their checksum. 0, or the error.
int write_records(const OwnedDescriptor& file, RecordShape shape, const FillRecords& fill) {
  constexpr Index block_bytes = Index{1} << 20;
  const Index step = std::clamp<Index>(block_bytes / shape.bytes, 1, shape.records);
  std::vector<std::byte> block(static_cast<std::size_t>(step * shape.bytes));
  Header header{.record_bytes = static_cast<std::uint64_t>(shape.bytes),
                .records = static_cast<std::uint64_t>(shape.records)};
  for (Index first = 0; first < shape.records; first += step) {
    const Index count = std::min(step, shape.records - first);
    const auto part = std::span(block).first(static_cast<std::size_t>(count * shape.bytes));
    fill(first, part);
    header.checksum = add_records(header.checksum, part, shape.bytes);
    if (const int code = file.write(part, record_file_header_bytes + first * shape.bytes)) return code;
  }
  header.header_checksum = checksum_of(header);
  std::array<std::byte, record_file_header_bytes> page{};
  std::memcpy(page.data(), &header, sizeof header);
  return file.write(page, 0);
}

}  // namespace

OwnedDescriptor::~OwnedDescriptor() {
  if (descriptor >= 0) ::close(descriptor);
}

int OwnedDescriptor::write(std::span<const std::byte> bytes, Index offset) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += count;
  }
  return 0;
}

Index OwnedDescriptor::read(std::span<std::byte> into, Index offset) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count =
        ::pread(descriptor, into.data() + done, into.size() - done, offset + static_cast<Index>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<Index>(done);
}

std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t key) {
  // Four chains, since one multiplication has to wait for the one before it.
  std::array<std::uint64_t, 4> lanes{0x243f6a8885a308d3U, 0x13198a2e03707344U, 0xa4093822299f31d0U,
                                     0x082efa98ec4e6c89U};
  for (std::uint64_t& lane : lanes) lane ^= key;
  const auto mix = [](std::uint64_t& lane, std::uint64_t word) {
    lane = (lane ^ word) * 0x9e3779b97f4a7c15U;
    // A product leaves a change of the top bit alone; so it is brought down, to more than one place.
    lane ^= lane >> 29;
  };
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 32; left -= 32, at += 32) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), at, 32);
    for (std::size_t i = 0; i < 4; ++i) mix(lanes[i], words[i]);
  }
  for (std::size_t i = 0; left > 0; ++i) {
    std::uint64_t word = 0;
    const std::size_t count = std::min<std::size_t>(left, 8);
    std::memcpy(&word, at, count);
    mix(lanes[i], word);
    at += count;
    left -= count;
  }
  std::uint64_t sum = bytes.size();
  for (const std::uint64_t lane : lanes) mix(sum, lane);
  return sum ^ (sum >> 32);
}

void write_record_file(const fs::path& file, RecordShape shape, const FillRecords& fill) {
  const std::string remedy = "check the folder, its permissions and the free space, or name another file";
  struct Unfinished {
    const char* name;
    ~Unfinished() {
      if (name != nullptr) ::unlink(name);
    }
  };
  const std::string temporary = file.string() + "." + std::to_string(::getpid()) + ".tmp";
  const OwnedDescriptor out(::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (out.descriptor < 0) cannot(file.string(), "write", errno, remedy);
  Unfinished unfinished{temporary.c_str()};
  if (const int code = write_records(out, shape, fill)) cannot(file.string(), "write", code, remedy);
  if (::fsync(out.descriptor) != 0) cannot(file.string(), "flush", errno, remedy);
  if (::rename(temporary.c_str(), file.c_str()) != 0) cannot(file.string(), "rename into", errno, remedy);
  unfinished.name = nullptr;
}

RecordFile::RecordFile(const fs::path& file, Pages pages)
    : RecordFile(OwnedDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), file.string(), pages) {}

RecordFile::RecordFile(OwnedDescriptor file, std::string name, Pages pages)
    : name_(std::move(name)), file_(std::move(file)) {
  const std::string rewrite = "write the file again";
  if (descriptor() < 0) cannot(name_, "open", errno, "check the name and the permissions");
  struct stat state = {};
  if (::fstat(descriptor(), &state) != 0) cannot(name_, "read", errno, "check the disk");
  if (!S_ISREG(state.st_mode)) throw Error(name_, "is no regular file", "name a record file");
  if (state.st_size == 0) throw Error(name_, "is empty", rewrite);
  Header header;
  const Index count = file_.read(std::as_writable_bytes(std::span(&header, 1)), 0);
  if (count < 0) cannot(name_, "read", errno, "check the disk");
  const auto has = static_cast<std::size_t>(count);
  if (has < magic.size() || header.magic != magic) {
    throw Error(name_, "does not start with ASSAYREC", "name a record file, or write this one again");
  }
  if (has < sizeof header || state.st_size < record_file_header_bytes) {
    throw Error(name_, "ends inside the header, at byte " + std::to_string(state.st_size), rewrite);
  }
  if (header.version != record_file_version) {
    throw Error(name_,
                "is of version " + std::to_string(header.version) + ", and this program reads version " +
                    std::to_string(record_file_version),
                "write it with this program, or read it with the one that wrote it");
  }
  if (header.header_checksum != checksum_of(header) || header.header_bytes != record_file_header_bytes ||
      header.record_bytes == 0 || header.records == 0) {
    throw Error(name_, "has a damaged header", rewrite);
  }
  const auto bytes = static_cast<std::uint64_t>(state.st_size - record_file_header_bytes);
  if (bytes % header.record_bytes != 0) {
    throw Error(name_,
                "holds " + std::to_string(bytes) +
                    " bytes of records, not a multiple of the record size of " +
                    std::to_string(header.record_bytes),
                rewrite);
  }
  if (bytes / header.record_bytes != header.records) {
    throw Error(name_,
                "holds " + std::to_string(bytes / header.record_bytes) + " records, and its header says " +
                    std::to_string(header.records),
                rewrite);
  }
  shape_ = {.records = static_cast<Index>(header.records), .bytes = static_cast<Index>(header.record_bytes)};
  checksum_ = header.checksum;
  modified_seconds_ = state.st_mtim.tv_sec;
  modified_nanoseconds_ = state.st_mtim.tv_nsec;
  mapping_ = GuardedMapping(descriptor(), state.st_size, pages);
  if (mapping_.data() == nullptr) {
    cannot(name_, "map", errno, "close other files, or raise the limit on memory (ulimit -v)");
  }
}

RecordFile RecordFile::scratch(Scratch where, RecordShape shape, const FillRecords& fill) {
  const bool on_disk = where == Scratch::disk;
  const std::string name =
      on_disk ? "scratch file in " + scratch_folder().string() : "scratch file in memory";
  const std::string remedy = on_disk ? "set TMPDIR to a folder with free space" : "take fewer records";
  OwnedDescriptor out =
      on_disk ? nameless_scratch_file() : OwnedDescriptor(::memfd_create("assay-records", MFD_CLOEXEC));
  if (out.descriptor < 0) cannot(name, "open", errno, remedy);
  if (const int code = write_records(out, shape, fill)) cannot(name, "write", code, remedy);
  // Dirty pages cannot be dropped.
  if (on_disk && ::fdatasync(out.descriptor) != 0) cannot(name, "flush", errno, remedy);
  return {std::move(out), name, on_disk ? Pages::on_demand : Pages::populated};
}

RecordFile RecordFile::again(Pages pages) const {
  // By this path a file without a name is opened anew, where dup() would share the state of read-ahead.
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor());
  return {OwnedDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), name_, pages};
}

void RecordFile::require_unchanged() const {
  struct stat state = {};
  const bool known = ::fstat(descriptor(), &state) == 0;
  if (known && !mapping_.lost() && state.st_size == mapping_.size() &&
      state.st_mtim.tv_sec == modified_seconds_ && state.st_mtim.tv_nsec == modified_nanoseconds_) {
    return;
  }
  const std::string remedy = "let nothing write to it meanwhile, and open it again";
  if (!known) cannot(name_, "look at", errno, "check the disk");
  if (state.st_size < mapping_.size()) {
    throw Error(name_,
                "was truncated from " + std::to_string(mapping_.size()) + " to " +
                    std::to_string(state.st_size) + " bytes while it was read",
                remedy);
  }
  if (mapping_.lost()) {
    throw Error(name_, "lost a page while it was read", "check the disk, and open it again");
  }
  throw Error(name_, "was written to while it was read", remedy);
}

void RecordFile::verify() const {
  const auto size = static_cast<std::size_t>(shape_.records * shape_.bytes);
  const std::uint64_t found = add_records(0, {record(0), size}, shape_.bytes);
  require_unchanged();
  if (found != checksum_) {
    throw Error(name_, "holds other records than were written: their checksum differs", "write it again");
  }
}

void RecordFile::read(Index i, std::span<std::byte> into) const {
  const Index count = file_.read(into, offset(i));
  if (count < 0) cannot(name_, "read", errno, "check the disk");
  if (count < static_cast<Index>(into.size())) {
    throw Error(name_, "ends inside record " + std::to_string(i), "write it again");
  }
}

void RecordFile::drop_pages() const {
  // The order counts: the kernel keeps the pages of a file that a page table refers to.
  mapping_.unmap_pages();
  ::posix_fadvise(descriptor(), 0, 0, POSIX_FADV_DONTNEED);
}

fs::path scratch_folder() {
  const char* const folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

OwnedDescriptor nameless_scratch_file() {
  const fs::path folder = scratch_folder();
  OwnedDescriptor nameless(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (nameless.descriptor >= 0) return nameless;
  std::string pattern = (folder / "assay-scratch-XXXXXX").string();
  OwnedDescriptor named(::mkostemp(pattern.data(), O_CLOEXEC));
  if (named.descriptor >= 0) ::unlink(pattern.c_str());
  return named;
}

bool scratch_disk_is_a_disk() {
  struct statfs state = {};
  if (::statfs(scratch_folder().c_str(), &state) != 0) return false;
  const auto type = static_cast<long>(state.f_type);
  return type != TMPFS_MAGIC && type != RAMFS_MAGIC;
}

}  // namespace assay

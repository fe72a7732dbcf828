// The idea: reads that bypass the mapping, many at once, straight into the batch. A missing page stops the
// thread that touches it; a submitted read does not, and a whole queue of reads takes one system call.

#include "assay/error.hpp"
#include "assay/ops/data_loader.hpp"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace assay {
namespace {

using Problem = BatchRetrieval::Problem;

/// Reads in flight at once. More gained nothing (kernels/README.md, Data loading).
constexpr unsigned queue_depth = 128;

/// The system may have a thread for each.
unsigned reads_at_once(const Problem& p) {
  return std::bit_ceil(static_cast<unsigned>(std::min<Index>(queue_depth, p.batch)));
}

std::string message(int code) { return std::generic_category().message(code); }

int setup(unsigned entries, io_uring_params& params) {
  return static_cast<int>(::syscall(SYS_io_uring_setup, entries, &params));
}

/// A mapping of the ring that the kernel and the program share.
struct Shared {
  Shared(int ring, std::size_t bytes, Index offset)
      : at(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset)),
        size(bytes) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    if (good()) ::munmap(at, size);
  }
  bool good() const { return at != MAP_FAILED; }
  template <class T>
  T* field(std::uint32_t offset) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(at) + offset);
  }
  void* at;
  std::size_t size;
};

/// A submission and a completion queue, for one thread.
class Ring {
 public:
  explicit Ring(unsigned entries) : file_(setup(entries, params_)) {
    const int ring = file_.descriptor;
    if (ring < 0) fail("io_uring_setup", errno);
    const auto& p = params_;
    submissions_ = std::make_unique<Shared>(ring, p.sq_off.array + p.sq_entries * sizeof(std::uint32_t),
                                            static_cast<Index>(IORING_OFF_SQ_RING));
    completions_ = std::make_unique<Shared>(ring, p.cq_off.cqes + p.cq_entries * sizeof(io_uring_cqe),
                                            static_cast<Index>(IORING_OFF_CQ_RING));
    entries_ = std::make_unique<Shared>(ring, p.sq_entries * sizeof(io_uring_sqe),
                                        static_cast<Index>(IORING_OFF_SQES));
    if (!submissions_->good() || !completions_->good() || !entries_->good()) {
      fail("mapping the queues of io_uring", errno);
    }
  }

  unsigned size() const { return params_.sq_entries; }

  /// Adds a read; at most size() between two calls of submit_and_wait().
  void read(int file, std::byte* into, Index bytes, Index offset, std::uint64_t tag) {
    const auto& p = params_;
    std::uint32_t& tail = *submissions_->field<std::uint32_t>(p.sq_off.tail);
    const std::uint32_t slot = tail & *submissions_->field<std::uint32_t>(p.sq_off.ring_mask);
    io_uring_sqe& entry = entries_->field<io_uring_sqe>(0)[slot];
    entry = {};
    entry.opcode = IORING_OP_READ;
    entry.fd = file;
    entry.addr = reinterpret_cast<std::uintptr_t>(into);
    entry.len = static_cast<std::uint32_t>(bytes);
    entry.off = static_cast<std::uint64_t>(offset);
    entry.user_data = tag;
    submissions_->field<std::uint32_t>(p.sq_off.array)[slot] = slot;
    std::atomic_ref(tail).store(tail + 1, std::memory_order_release);
    ++added_;
  }

  /// Submits the added reads and returns once one is complete. Returns 0 or the error.
  int submit_and_wait() {
    const long taken =
        ::syscall(SYS_io_uring_enter, file_.descriptor, added_, 1, IORING_ENTER_GETEVENTS, nullptr, 0);
    if (taken < 0) return errno;
    added_ -= static_cast<unsigned>(taken);
    return 0;
  }

  template <class Done>
  void reap(const Done& done) {
    const auto& p = params_;
    std::uint32_t& head = *completions_->field<std::uint32_t>(p.cq_off.head);
    const std::uint32_t mask = *completions_->field<std::uint32_t>(p.cq_off.ring_mask);
    const auto tail =
        std::atomic_ref(*completions_->field<std::uint32_t>(p.cq_off.tail)).load(std::memory_order_acquire);
    std::uint32_t at = head;
    for (; at != tail; ++at) {
      const io_uring_cqe& entry = completions_->field<io_uring_cqe>(p.cq_off.cqes)[at & mask];
      done(entry.user_data, entry.res);
    }
    std::atomic_ref(head).store(at, std::memory_order_release);
  }

 private:
  [[noreturn]] static void fail(const std::string& what, int code) {
    throw Error("batch_retrieval/io_uring", what + ": " + message(code), "leave this variant out");
  }

  io_uring_params params_{};
  OwnedDescriptor file_;
  unsigned added_ = 0;
  std::unique_ptr<Shared> submissions_, completions_, entries_;
};

/// A read in flight.
struct Pending {
  Index place = 0;  ///< place in the batch
  Index done = 0;   ///< bytes of earlier, shorter reads
};

class Reader {
 public:
  Reader(const Problem& p, const RecordFile& file)
      : p_(p),
        file_(file.again(RecordFile::Pages::at_random)),
        ring_(reads_at_once(p)),
        pending_(ring_.size()) {
    // Without this advice a read fetches more than it needs, as a missing page of a mapping does.
    ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_RANDOM);
    free_.reserve(ring_.size());
    for (unsigned slot = 0; slot < ring_.size(); ++slot) free_.push_back(slot);
  }

  const RecordFile& file() const { return file_; }

  void read(std::span<const Index> indices, std::byte* batch) {
    int failure = 0;
    bool ended = false;
    for (Index next = 0; next < p_.batch || free_.size() < pending_.size();) {
      while (next < p_.batch && !free_.empty() && failure == 0 && !ended) {
        const unsigned slot = free_.back();
        free_.pop_back();
        pending_[slot] = {.place = next++};
        add(slot, indices, batch);
      }
      // After a failure, waits for the reads in flight, since they still write into the batch.
      if (free_.size() == pending_.size()) break;
      const int code = ring_.submit_and_wait();
      if (code != 0 && code != EINTR && code != EAGAIN && code != EBUSY) {
        throw Error(file_.name(), "cannot read through io_uring: " + message(code), "leave this variant out");
      }
      ring_.reap([&](std::uint64_t tag, int result) {
        const auto slot = static_cast<unsigned>(tag);
        Pending& read = pending_[slot];
        const bool again = result == -EINTR || result == -EAGAIN;
        if (result > 0) read.done += result;
        if (again || (result > 0 && read.done < p_.bytes)) {
          add(slot, indices, batch);
        } else {
          if (result < 0) failure = -result;
          if (result == 0) ended = true;
          free_.push_back(slot);
        }
      });
    }
    // A file that ends early was truncated; the caller checks the size and reports that better.
    if (failure != 0) {
      throw Error(file_.name(), "cannot read: " + message(failure), "check the disk");
    }
  }

 private:
  void add(unsigned slot, std::span<const Index> indices, std::byte* batch) {
    const Pending& read = pending_[slot];
    const Index offset = file_.offset(indices[static_cast<std::size_t>(read.place)]) + read.done;
    ring_.read(file_.descriptor(), batch + read.place * p_.bytes + read.done, p_.bytes - read.done, offset,
               slot);
  }

  Problem p_;
  RecordFile file_;
  Ring ring_;
  std::vector<Pending> pending_;
  std::vector<unsigned> free_;
};

auto prepare(const Problem& p, const BatchRetrieval::Input& input, const Context&) {
  const auto reader = std::make_shared<Reader>(p, input.records.file);
  return [reader](const BatchRetrieval::Input& in, BatchRetrieval::Output& out) {
    reader->read(in.window(), out.batch.data());
    in.records.end_call(reader->file());
  };
}

std::optional<std::string> unfit(const Problem& p, const Context&) {
  if (auto reason = no_such_file_state(p.state())) return reason;
  io_uring_params params{};
  const OwnedDescriptor ring(setup(1, params));
  if (ring.descriptor < 0) {
    return "io_uring_setup fails: " + message(errno) +
           "; kernel.io_uring_disabled or a filter of system calls may forbid it";
  }
  // Linux 5.6 introduced both this and IORING_OP_READ.
  if ((params.features & IORING_FEAT_RW_CUR_POS) == 0) return "the kernel's io_uring is older than Linux 5.6";
  return std::nullopt;
}

const Register registered{[](Registry& r) {
  r.add<BatchRetrieval>({.name = "io_uring",
                         .summary = "reads of whole records into the batch, up to 128 at once",
                         .helpers = [](const Problem& p) { return Index{reads_at_once(p)}; },
                         .prepare = prepare,
                         .unfit = unfit});
}};

}  // namespace
}  // namespace assay

#include "batch_retrieval/records.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace assay {
namespace {

Index page_bytes() {
  static const Index bytes = ::sysconf(_SC_PAGESIZE);
  return bytes;
}

std::pair<Index, Index> pages_of(const RecordFile& file, Index record) {
  const Index begin = file.offset(record);
  return {begin / page_bytes(), (begin + file.shape().bytes + page_bytes() - 1) / page_bytes()};
}

void will_need(const RecordFile& file, Index first, Index end) {
  // The mapping starts with the header, at the start of a page. A refused advice costs time only.
  std::byte* const start = const_cast<std::byte*>(file.mapping().data());
  ::madvise(start + first * page_bytes(), static_cast<std::size_t>((end - first) * page_bytes()),
            MADV_WILLNEED);
}

}  // namespace

void PageRequests::ask(const RecordFile& file, std::span<const Index> indices) {
  const auto pages = std::span(pages_).first(indices.size());
  for (std::size_t b = 0; b < indices.size(); ++b) pages[b] = pages_of(file, indices[b]);
  std::ranges::sort(pages);
  for (std::size_t b = 0; b < pages.size();) {
    const Index first = pages[b].first;
    Index end = pages[b].second;
    for (++b; b < pages.size() && pages[b].first <= end; ++b) end = std::max(end, pages[b].second);
    will_need(file, first, end);
  }
}

void ask_for_pages(const RecordFile& file, Index record) {
  const auto [first, end] = pages_of(file, record);
  will_need(file, first, end);
}

}  // namespace assay

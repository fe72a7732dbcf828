#include "bench/measure/figures.hpp"

#include <algorithm>

namespace assay {

double joined(Figure::Join join, double all, double more, double launches) {
  switch (join) {
    case Figure::Join::most: return std::max(all, more);
    case Figure::Join::least: return std::min(all, more);
    case Figure::Join::mean: return (all * launches + more) / (launches + 1);
    case Figure::Join::sum: return all + more;
  }
  return all;
}

const std::vector<Figure>& measured_figures() {
  static const std::vector<Figure> figures{
      {.name = "allocations", .tag = "allocations_per_call", .about = "Allocations of the heap by one call."},
      {.name = "allocated",
       .unit = "B",
       .tag = "allocated_bytes_per_call",
       .about = "Bytes of the heap that one call allocates."},
      {.name = "workspace",
       .unit = "B",
       .tag = "workspace_bytes",
       .about = "Memory of the heap that a variant keeps between calls: plans, panels, columns."},
      {.name = "preparation",
       .unit = "s",
       .tag = "prepare_seconds",
       .join = Figure::Join::least,
       .about = "Time before the first call, for a plan or packed constants; not timed with the calls."},
      {.name = "switches",
       .unit = "ratio",
       .better = Figure::Better::lower,
       .tag = "involuntary_switches_per_call",
       .join = Figure::Join::mean,
       .about = "Times per call that the system took the processor from the calling thread, while slices "
                "were timed and judged."},
      {.name = "by our clock",
       .unit = "s",
       .tag = std::string(tag_of_other_clock),
       .join = Figure::Join::mean,
       .about = "Mean time of a call by the clock of the harness, where its times are those of a clock of "
                "its own."},
  };
  return figures;
}

void join(FigureValues& all, const FigureValues& more, std::size_t launches) {
  for (const auto& [tag, value] : more) {
    const auto [own, is_first] = all.try_emplace(tag, value);
    const auto figure = std::ranges::find(measured_figures(), tag, &Figure::tag);
    if (is_first || figure == measured_figures().end()) continue;
    own->second = joined(figure->join, own->second, value, static_cast<double>(launches));
  }
}

}  // namespace assay

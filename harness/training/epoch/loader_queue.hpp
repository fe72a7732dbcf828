/// The queue between a data loader and a training loop, played event by event: the wait of each step
/// for its batch, given the times to make batches and to compute steps. All times are seconds.
///
/// W workers are sent P batches each before the first step. In order, as PyTorch's DataLoader by default:
/// batch i is made by worker i mod W, and is handed over after batch i - 1, however long that takes. When the
/// loop takes batch i, batch i + W P is sent. With
///   s(i)  when batch i is sent: 0 for i < W P, else h(i - W P),
///   r(i)  when it is ready:     max(s(i), r(i - W)) + load(i),
///   h(i)  when it is handed over: max(h(i - 1) + compute(i - 1), r(i)),
/// step i waits h(i) - h(i - 1) - compute(i - 1). Out of order, the batch that was ready first is taken, and
/// the next one is sent to the worker that made it, as it is the one with room. Without workers (W = 0) the
/// loop makes each batch itself and waits load(i).
///
/// Mean times alone say max(load / W, compute) per step. That is too little whenever times vary: in order,
/// one slow batch stops the loop while W P - 1 others stand ready, and nothing is sent meanwhile.
///
/// Source: torch/utils/data/dataloader.py, _MultiProcessingDataLoaderIter (PyTorch 2.6), `_try_put_index` and
/// `_next_data`. Not in it: the cost of a hand-over itself, pinning threads, and workers that are slower than
/// others.
#pragma once

#include "assay/problem.hpp"

#include <functional>
#include <span>

namespace assay {

/// The delay of batches while pages that they need are not in memory, as ColdPages has it: batch i takes
/// longer by first exp(-rate i).
struct Fading {
  double first = 0;  ///< seconds
  double rate = 0;
};

struct LoaderQueue {
  Index workers = 0;   ///< W
  Index prefetch = 2;  ///< P, at least 1
  bool in_order = true;
  /// Factors of all times while workers and steps run at the same time: they share cores and memory
  /// bandwidth. Unused without workers.
  double load_contention = 1, compute_contention = 1;
  Fading cold;  ///< on top of the times of batches; none for a warm start
};

struct QueueRun {
  double seconds = 0;     ///< from sending the first batch to the end of the last step
  double waited = 0;      ///< seconds of waiting for a batch, the first fill included
  double first_fill = 0;  ///< the wait of the first step
};

/// Plays `steps` steps. `load` returns the time of the next batch, and `compute` that of the next step.
/// `waits`, where not empty, has `steps` elements and receives the wait of each step.
QueueRun play(const LoaderQueue& queue, Index steps, const std::function<double()>& load,
              const std::function<double()>& compute, std::span<double> waits = {});

}  // namespace assay

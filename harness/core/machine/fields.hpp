/// Machines, weather, roofs, costs, agreement and intervals as files hold them.
#pragma once

#include "assay/agreement.hpp"
#include "assay/interval.hpp"
#include "assay/machine.hpp"
#include "core/json/fields.hpp"

namespace assay {

/// Beyond any machine: a larger count of cores or threads is a fault of the file.
inline constexpr Index most_threads = 1 << 20;

void describe(Fields& f, Fact& fact);
void describe(Fields& f, Cache& cache);
void describe(Fields& f, Machine& machine);
void describe(Fields& f, TrafficMix& mix);
void describe(Fields& f, Bandwidth& bandwidth);
void describe(Fields& f, Roof& roof);
void describe(Fields& f, Examination& examination);
void describe(Fields& f, Weather& weather);
void describe(Fields& f, Cost& cost);
void describe(Fields& f, Figure& figure);
void describe(Fields& f, Agreement& agreement);
/// `middle` names the estimate where the interval shares its object with other fields.
void describe(Fields& f, Interval& interval, std::string_view middle);
inline void describe(Fields& f, Interval& interval) { describe(f, interval, "middle"); }

}  // namespace assay

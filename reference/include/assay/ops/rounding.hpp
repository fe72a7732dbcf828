/// The constants of rounding in f32, of which the bounds of the contracts are made.
#pragma once

namespace assay::rounding {

/// The unit roundoff.
inline constexpr double u = 0x1p-24;

/// g(n) = n u / (1 - n u), the constant of n roundings (Higham 2002, lemma 3.1).
inline double g(double roundings) { return roundings * u / (1 - roundings * u); }

}  // namespace assay::rounding

// The polynomials of the fast variants for exponentials and the normal distribution, for scalars and vectors.
// Each was fitted for the least relative error by Remez' exchange in 30 digits. The stated error is that of
// the polynomial, before its coefficients and its evaluation are rounded.
#pragma once

namespace assay::pointwise {

/// 2^f = 1 + f (c[0] + c[1] f + …) for |f| <= 1/2, within 9.2e-8. The 1 is exact, so that exp(0) is.
inline constexpr float power_terms[] = {0.693146977592F, 0.240222420804F, 0.0555073375424F, 0.00967151286993F,
                                        0.00132647238961F};

/// 2^f - 1 = f (c[0] + c[1] f + …) for |f| <= 1/2, within 1.1e-8 of it, however small it is.
inline constexpr float power_less_one_terms[] = {0.693147187927F,  0.240226497952F,  0.0555035743351F,
                                                 0.0096182374548F, 0.0013390735537F, 0.00015403524712F};

/// exp(a^2 / 2) Phi(-a) = t (c[0] + c[1] t + …), t = 1 / (1 + tail_scale a), within 3.2e-8 for 0 <= a
/// <= 14.45. The scale is the best of hundredths for nine terms beside 0.2, with which an error of t would
/// count for more: at a = 0 the result answers to a relative change of t with 0.8 / tail_scale times it.
inline constexpr float tail_scale = 0.35F;
inline constexpr float tail_terms[] = {0.139621313625F,  0.139863402573F,   0.119822068211F,
                                       0.105549559499F,  -0.0232057088313F, 0.159310455798F,
                                       -0.255831246978F, 0.144027311943F,   -0.0291571718173F};

/// Magnitudes from which on exp(-a^2 / 2), or exp(-v) for the argument v of the tanh form, is below 2^-128.
inline constexpr float largest_normal = 13.4F, largest_tanh = 10.2F;

inline constexpr float log2_e = 1.44269504089F;
inline constexpr float density_at_zero = 0.398942280401F;  ///< 1 / sqrt(2 pi)
/// v = a (tanh_linear + tanh_cubic a^2), the argument of the logistic function in the tanh form.
inline constexpr float tanh_linear = 1.595769121606F, tanh_cubic = 0.0713548162726F;

}  // namespace assay::pointwise

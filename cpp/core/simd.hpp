// Code for several instruction sets, and the choice between them: the one place for both.
//
// CMake compiles files with hot loops twice: as `plain`, for every processor, and with LOPSIDED_AVX2_COPY as `avx2`.
// In headers such code stands between LOPSIDED_ISA_BEGIN and LOPSIDED_ISA_END, in an inline namespace named after the
// instruction set, so that the linker never takes a function for AVX2 where a plain one is meant. Includes stand before:
// what they define, the standard library too, is plain in both copies. What both copies share (rows, models as an
// interface) is outside as well and is inlined where it is hot. LOPSIDED_COPIES declares functions of both copies, and
// LOPSIDED_BEST(f(x)) calls the one for this processor. No vector crosses the border between the copies.
#pragma once

// Functions between the two are compiled for a processor with these features. Intrinsics come from headers before.
#define LOPSIDED_PRAGMA(...) _Pragma(#__VA_ARGS__)
#ifdef __clang__
#define LOPSIDED_TARGET_BEGIN(features) \
  LOPSIDED_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define LOPSIDED_TARGET_END LOPSIDED_PRAGMA(clang attribute pop)
#else
#define LOPSIDED_TARGET_BEGIN(features) LOPSIDED_PRAGMA(GCC push_options) LOPSIDED_PRAGMA(GCC target(features))
#define LOPSIDED_TARGET_END LOPSIDED_PRAGMA(GCC pop_options)
#endif

#ifdef LOPSIDED_AVX2_COPY
#define LOPSIDED_ISA avx2
#define LOPSIDED_REGION_BEGIN LOPSIDED_TARGET_BEGIN("avx2,fma")
#define LOPSIDED_REGION_END LOPSIDED_TARGET_END
#else
#define LOPSIDED_ISA plain
#define LOPSIDED_REGION_BEGIN
#define LOPSIDED_REGION_END
#endif

namespace lopsided {
inline namespace LOPSIDED_ISA {}
}  // namespace lopsided

#define LOPSIDED_ISA_BEGIN \
  LOPSIDED_REGION_BEGIN    \
  namespace lopsided {     \
  inline namespace LOPSIDED_ISA {
#define LOPSIDED_ISA_END \
  }                      \
  }                      \
  LOPSIDED_REGION_END

// LOPSIDED_HAS_AVX2: CMake compiles the second copy.
#ifdef LOPSIDED_HAS_AVX2
#define LOPSIDED_COPIES(...) \
  namespace plain {          \
  __VA_ARGS__                \
  }                          \
  namespace avx2 {           \
  __VA_ARGS__                \
  }
#define LOPSIDED_BEST(...) (::lopsided::simd::has_avx2 ? avx2::__VA_ARGS__ : plain::__VA_ARGS__)
#else
#define LOPSIDED_COPIES(...) \
  namespace plain {          \
  __VA_ARGS__                \
  }
#define LOPSIDED_BEST(...) plain::__VA_ARGS__
#endif

// LOPSIDED_INLINE: a function that is always inlined. LOPSIDED_FLATTEN: one into which everything it calls is inlined,
// except what is marked noinline. LOPSIDED_HOT: the same for the loop over events, except where CMake defines
// LOPSIDED_HEAVY: those learners do so much for each event that flattening the loop only costs compile time. None has an
// effect where CMake defines LOPSIDED_CHEAP, for code that is to compile fast rather than to run fast.
#ifdef LOPSIDED_CHEAP
#define LOPSIDED_INLINE
#define LOPSIDED_FLATTEN
#else
#define LOPSIDED_INLINE [[gnu::always_inline]]
#define LOPSIDED_FLATTEN [[gnu::flatten]]
#endif
#ifdef LOPSIDED_HEAVY
#define LOPSIDED_HOT
#else
#define LOPSIDED_HOT LOPSIDED_FLATTEN
#endif

namespace lopsided::simd {

// What this processor has, asked once. Processors with AVX2 have the others of its list too, emulators may not.
#if defined(__x86_64__) && defined(__GNUC__)
inline const bool has_avx2 =
    (__builtin_cpu_init(), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt"));
inline const bool has_avx512 =
    (__builtin_cpu_init(), __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                               __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2"));
#else
inline constexpr bool has_avx2 = false, has_avx512 = false;
#endif

// The copy that LOPSIDED_BEST calls here.
#ifdef LOPSIDED_HAS_AVX2
inline const char* best() { return has_avx2 ? "avx2" : "plain"; }
#else
inline const char* best() { return "plain"; }
#endif

}  // namespace lopsided::simd

// Functions compiled for AVX2 as well; the right one is chosen when the program starts.
#pragma once

// Sanitizers cannot run the resolvers that choose a clone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define LOPSIDED_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define LOPSIDED_CLONES
#endif

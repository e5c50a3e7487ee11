// The floating-point environment of a thread: how it rounds, what it does with
// denormal numbers, and which operations trap. A thread begins with that of the
// one that started it.
#pragma once

#include <cfenv>
#include <cstdint>

namespace rc {

// Whether the calling thread has the default one. It reads two registers.
inline bool has_default_floats() noexcept {
#if defined(__x86_64__)
  uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  // The lowest six bits are flags that operations leave.
  return (__builtin_ia32_stmxcsr() & ~0x3Fu) == 0x1F80 && x87 == 0x37F;
#elif defined(__aarch64__)
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control == 0;
#elif defined(__wasm__)
  return true;  // there is no other
#else
  return false;
#endif
}

inline void set_default_floats() noexcept {
  std::fesetenv(FE_DFL_ENV);
#if defined(__x86_64__)
  // Not every C library counts the treatment of denormal numbers.
  __builtin_ia32_ldmxcsr(0x1F80);
#endif
}

}  // namespace rc

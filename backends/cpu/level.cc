#include "cpu/level.h"

#include "base/config/settings.h"
#include "base/error.h"
#include "base/machine.h"
#include "cpu/relaxed.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rc::cpu {

#if defined(__x86_64__)
namespace baseline {
extern const Kernels kKernels;
}
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}
namespace avx512vnni {
extern const Kernels kKernels;
}
namespace amx {
LinearFunction linear_function(rc_dtype weight);
}
#elif defined(__aarch64__)
namespace neon {
extern const Kernels kKernels;
}
namespace dotprod {
extern const Kernels kKernels;
}
namespace i8mm {
extern const Kernels kKernels;
}
#elif defined(__wasm__)
namespace simd128 {
extern const Kernels kKernels;
}
#endif

namespace {

// Those of levels that a build leaves out are not used.
[[maybe_unused]] bool always() { return true; }

#if defined(__x86_64__)

// Clang 14 has no name for it.
[[maybe_unused]] bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

// __builtin_cpu_supports asks the operating system's part (XGETBV) too.
[[maybe_unused]] bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         has_f16c();
}

[[maybe_unused]] bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}

[[maybe_unused]] bool has_avx512vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni");
}

// Clang 14 has no name for these either.
bool ask_for_amx() {
  constexpr unsigned kInstructions = 3u << 24;  // AMX-TILE and AMX-INT8
  constexpr unsigned kStates = 3u << 17;        // that the system keeps
  if (!has_avx512vnni()) return false;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kInstructions) != kInstructions) return false;
  asm volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  // The registers are so large that a process asks for leave to use them.
  return (eax & kStates) == kStates && may_use_matrix_registers();
}

[[maybe_unused]] bool has_amx() {
  static const bool found = ask_for_amx();
  return found;
}

#if defined(RC_CPU_HAS_amx)
// AMX multiplies matrices and does nothing else.
const Kernels* amx_kernels() {
  static const Kernels kernels = [] {
    Kernels same = avx512vnni::kKernels;
    same.linear = amx::linear_function;
    return same;
  }();
  return &kernels;
}
#endif

#elif defined(__aarch64__)

[[maybe_unused]] bool has_dotprod() {
  constexpr unsigned long kDotProduct = 1ul << 20;  // HWCAP_ASIMDDP
  return (processor_features().first & kDotProduct) != 0;
}

[[maybe_unused]] bool has_i8mm() {
  constexpr unsigned long kInt8Matrices = 1ul << 13;  // HWCAP2_I8MM
  return has_dotprod() && (processor_features().second & kInt8Matrices) != 0;
}

#endif

}  // namespace

const std::vector<Level>& levels() {
  static const std::vector<Level> all = {
#if defined(RC_CPU_HAS_baseline)
    {"baseline", &baseline::kKernels, always},
#endif
#if defined(RC_CPU_HAS_avx2)
    {"avx2", &avx2::kKernels, has_avx2},
#endif
#if defined(RC_CPU_HAS_avx512)
    {"avx512", &avx512::kKernels, has_avx512},
#endif
#if defined(RC_CPU_HAS_amx)
    // Below avx512vnni, which was as fast or faster wherever it was measured:
    // taken only where it is asked for.
    {"amx", amx_kernels(), has_amx},
#endif
#if defined(RC_CPU_HAS_avx512vnni)
    {"avx512vnni", &avx512vnni::kKernels, has_avx512vnni},
#endif
#if defined(RC_CPU_HAS_neon)
    {"neon", &neon::kKernels, always},
#endif
#if defined(RC_CPU_HAS_dotprod)
    {"dotprod", &dotprod::kKernels, has_dotprod},
#endif
#if defined(RC_CPU_HAS_i8mm)
    {"i8mm", &i8mm::kKernels, has_i8mm},
#endif
#if defined(RC_CPU_HAS_simd128)
    // A module with such instructions does not start where there are none.
    {"simd128", &simd128::kKernels, always},
#endif
#if defined(RC_CPU_HAS_relaxed)
    {"relaxed", &relaxed_kernels(), has_relaxed},
#endif
  };
  return all;
}

#if defined(__x86_64__)

Arithmetic arithmetic() {
  // Clang 14 has no names for most of these; registers must be the system's to
  // keep, which has_avx2() and has_avx512() have asked.
  constexpr unsigned kHalves = 1u << 23;       // EDX: AVX512-FP16
  constexpr unsigned kWideDot = 1u << 11;      // ECX: AVX512-VNNI
  constexpr unsigned kNarrowDot = 1u << 4;     // EAX of leaf 1: AVX-VNNI
  constexpr unsigned kWideProducts = 1u << 5;  // the same: AVX512-BF16
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!has_avx2() || __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) {
    return {};
  }
  unsigned more = 0, unused = 0;
  if (eax >= 1) __get_cpuid_count(7, 1, &more, &unused, &unused, &unused);
  const bool wide = has_avx512();
  return {wide && (edx & kHalves) != 0, wide && (more & kWideProducts) != 0,
          (wide && (ecx & kWideDot) != 0) || (more & kNarrowDot) != 0};
}

#elif defined(__aarch64__)

Arithmetic arithmetic() {
  constexpr unsigned long kHalves = 1ul << 10;    // HWCAP_ASIMDHP
  constexpr unsigned long kProducts = 1ul << 14;  // HWCAP2_BF16
  const ProcessorFeatures features = processor_features();
  return {(features.first & kHalves) != 0, (features.second & kProducts) != 0,
          has_dotprod()};
}

#else

Arithmetic arithmetic() { return {}; }

#endif

std::vector<const Level*> available_levels() {
  std::vector<const Level*> found;
  for (const Level& level : levels()) {
    if (level.available()) found.push_back(&level);
  }
  return found;
}

const Level& highest_level(const std::vector<const Level*>& usable) {
  if (!usable.empty()) return *usable.back();
  std::string built;
  for (const Level& level : levels()) {
    built += cat(built.empty() ? "" : ", ", level.name);
  }
  fail(RC_E_UNSUPPORTED,
       "the cpu backend cannot be opened: this processor does not support the "
       "instructions of ",
       built,
       ", the only levels that this build of Runcible has; build it with an "
       "empty RUNCIBLE_CPU_LEVELS, or on this machine");
}

const Level& level_by_name(const std::string& name,
                           const std::string& subject) {
  std::string usable;
  for (const Level* level : available_levels()) {
    if (level->name == name) return *level;
    usable += usable.empty() ? level->name : std::string(", ") + level->name;
  }
  for (const Level& level : levels()) {
    if (level.name != name) continue;
    fail(RC_E_UNSUPPORTED, subject, " is \"", level.name,
         "\", which this processor does not support; it supports ", usable);
  }
  fail(RC_E_INVALID_ARGUMENT, subject, " is \"", name.substr(0, 64),
       "\", which is not a level; this processor supports ", usable);
}

const Level& chosen_level() {
  const auto settings = config::Settings::now();
  const auto name = settings->text("library.isa");
  if (!name || name->empty()) return highest_level(available_levels());
  return level_by_name(*name, settings->subject("library.isa"));
}

}  // namespace rc::cpu

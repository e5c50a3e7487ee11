#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <unordered_map>

#include "machine.h"
#include "ptx.h"
#include "tensor/half.h"

namespace rc::ptx {
namespace {

using S16 = int16_t;
using S32 = int32_t;
using S64 = int64_t;
using U8 = uint8_t;
using U16 = uint16_t;
using U32 = uint32_t;
using U64 = uint64_t;
using F32 = float;
using F64 = double;

uint64_t bits_of(const Thread& thread, const Operand& operand) {
  return operand.is_register ? thread.registers[operand.number] : operand.bits;
}

template <class T>
T value(const Thread& thread, const Operand& operand) {
  const uint64_t bits = bits_of(thread, operand);
  T result;
  std::memcpy(&result, &bits, sizeof result);
  return result;
}

template <class T>
void put(Thread& thread, const Operand& target, T result) {
  uint64_t bits = 0;
  std::memcpy(&bits, &result, sizeof result);
  thread.registers[target.number] = bits;
}

template <class T>
T source(const Thread& thread, const Instruction& one, int number) {
  return value<T>(thread, one.sources[number]);
}

// ---- Arithmetic: a function of values of one type

template <class T>
using Unsigned = std::make_unsigned_t<T>;

struct Add {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
    } else {
      return a + b;
    }
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
    } else {
      return a - b;
    }
  }
};
struct Mul {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(uint64_t(a) * uint64_t(b));
    } else {
      return a * b;
    }
  }
};
// A quotient by 0 is unspecified.
struct Div {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(-1);
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return Sub::of<T>(0, a);
      }
    }
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
// Of numbers, a NaN gives the other one.
struct Min {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return std::fmin(a, b);
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) return std::fmax(a, b);
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

template <class T, class Function>
void binary(Thread& thread, const Instruction& one) {
  put<T>(thread, one.targets[0],
         Function::template of<T>(source<T>(thread, one, 0),
                                  source<T>(thread, one, 1)));
}

// Shifts by the width or more give 0, or the sign.
template <class T>
void shift_left(Thread& thread, const Instruction& one) {
  const T a = source<T>(thread, one, 0);
  const uint32_t by = source<U32>(thread, one, 1);
  put<T>(thread, one.targets[0],
         by >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << by));
}
template <class T>
void shift_right(Thread& thread, const Instruction& one) {
  const T a = source<T>(thread, one, 0);
  const uint32_t most = 8 * sizeof(T);
  const uint32_t by = source<U32>(thread, one, 1);
  const T none = std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
  put<T>(thread, one.targets[0], by >= most ? none : static_cast<T>(a >> by));
}

struct Neg {
  template <class T>
  static T of(T a) {
    if constexpr (std::is_integral_v<T>) return Sub::of<T>(0, a);
    return -a;
  }
};
struct Abs {
  template <class T>
  static T of(T a) {
    if constexpr (std::is_integral_v<T>) return a < 0 ? Neg::of<T>(a) : a;
    return std::fabs(a);
  }
};
struct Not {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
struct Sqrt {
  template <class T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  static T of(T a) {
    return T{1} / a;
  }
};

template <class T, class Function>
void unary(Thread& thread, const Instruction& one) {
  put<T>(thread, one.targets[0],
         Function::template of<T>(source<T>(thread, one, 0)));
}

void not_of_predicate(Thread& thread, const Instruction& one) {
  put<U8>(thread, one.targets[0], source<U8>(thread, one, 0) == 0);
}

template <class T>
void fma_of(Thread& thread, const Instruction& one) {
  put<T>(thread, one.targets[0],
         std::fma(source<T>(thread, one, 0), source<T>(thread, one, 1),
                  source<T>(thread, one, 2)));
}

template <class T>
void multiply_add_low(Thread& thread, const Instruction& one) {
  put<T>(thread, one.targets[0],
         Add::of<T>(
             Mul::of<T>(source<T>(thread, one, 0), source<T>(thread, one, 1)),
             source<T>(thread, one, 2)));
}

template <class T, class Wide>
void multiply_wide(Thread& thread, const Instruction& one) {
  put<Wide>(thread, one.targets[0],
            static_cast<Wide>(Wide{source<T>(thread, one, 0)} *
                              Wide{source<T>(thread, one, 1)}));
}

template <class T, class Wide>
void multiply_high(Thread& thread, const Instruction& one) {
  const Wide product =
      Wide{source<T>(thread, one, 0)} * Wide{source<T>(thread, one, 1)};
  put<T>(thread, one.targets[0], static_cast<T>(product >> 8 * sizeof(T)));
}

void extract_bits(Thread& thread, const Instruction& one) {
  const uint32_t a = source<U32>(thread, one, 0);
  const uint32_t begin = source<U32>(thread, one, 1) & 255;
  const uint32_t count = source<U32>(thread, one, 2) & 255;
  const uint32_t shifted = begin >= 32 ? 0 : a >> begin;
  put<U32>(thread, one.targets[0],
           count >= 32 ? shifted : shifted & ((1u << count) - 1));
}

// ---- Comparisons

struct Eq {
  static bool of(auto a, auto b) { return a == b; }
};
struct Ne {
  static bool of(auto a, auto b) { return a < b || b < a; }
};
struct Lt {
  static bool of(auto a, auto b) { return a < b; }
};
struct Le {
  static bool of(auto a, auto b) { return a <= b; }
};
struct Gt {
  static bool of(auto a, auto b) { return a > b; }
};
struct Ge {
  static bool of(auto a, auto b) { return a >= b; }
};
struct Num {
  static bool of(auto a, auto b) { return a == a && b == b; }
};
// True as well if one is a NaN.
template <class Ordered>
struct OrNan {
  static bool of(auto a, auto b) {
    return a != a || b != b || Ordered::of(a, b);
  }
};
struct Nan {
  static bool of(auto a, auto b) { return a != a || b != b; }
};

template <class T, class Comparison>
void compare(Thread& thread, const Instruction& one) {
  put<U8>(thread, one.targets[0],
          Comparison::of(source<T>(thread, one, 0), source<T>(thread, one, 1)));
}

template <class T>
void select(Thread& thread, const Instruction& one) {
  put<T>(thread, one.targets[0],
         source<U8>(thread, one, 2) != 0 ? source<T>(thread, one, 0)
                                         : source<T>(thread, one, 1));
}

// ---- Conversions

template <class To, class From>
void convert(Thread& thread, const Instruction& one) {
  put<To>(thread, one.targets[0],
          static_cast<To>(source<From>(thread, one, 0)));
}

// Towards zero; what the type does not have becomes its nearest number.
template <class To>
void convert_to_integer(Thread& thread, const Instruction& one) {
  using Limits = std::numeric_limits<To>;
  const double x = double{source<F32>(thread, one, 0)};
  To result = 0;
  if (x >= -static_cast<double>(Limits::min()) && Limits::is_signed) {
    result = Limits::max();
  } else if (x <= static_cast<double>(Limits::min())) {
    result = Limits::min();
  } else if (x == x) {
    result = static_cast<To>(x);
  }
  put<To>(thread, one.targets[0], result);
}

void round_to_even(Thread& thread, const Instruction& one) {
  put<F32>(thread, one.targets[0], std::nearbyint(source<F32>(thread, one, 0)));
}
void to_half(Thread& thread, const Instruction& one) {
  put<U16>(thread, one.targets[0], f32_to_f16(source<F32>(thread, one, 0)));
}
void of_half(Thread& thread, const Instruction& one) {
  put<F32>(thread, one.targets[0], f16_to_f32(source<U16>(thread, one, 0)));
}

// ---- Moves

template <class T>
void move(Thread& thread, const Instruction& one) {
  put<T>(thread, one.targets[0], source<T>(thread, one, 0));
}

template <class T>
void pack(Thread& thread, const Instruction& one) {
  const int bits = 8 * static_cast<int>(sizeof(T)) / one.width;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t all = 0;
  for (int i = 0; i < one.width; ++i) {
    all |= (bits_of(thread, one.sources[i]) & mask) << (bits * i);
  }
  put<T>(thread, one.targets[0], static_cast<T>(all));
}
template <class T>
void unpack(Thread& thread, const Instruction& one) {
  const int bits = 8 * static_cast<int>(sizeof(T)) / one.width;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  const uint64_t all = source<T>(thread, one, 0);
  for (int i = 0; i < one.width; ++i) {
    put<U64>(thread, one.targets[i], (all >> (bits * i)) & mask);
  }
}

// A narrower integer fills its register with its sign.
template <class T>
void load(Thread& thread, const Instruction& one) {
  const uint64_t address =
      bits_of(thread, one.sources[0]) + static_cast<uint64_t>(one.offset);
  const std::byte* from =
      memory_of(thread, one, address, sizeof(T) * one.width);
  for (int i = 0; i < one.width; ++i, from += sizeof(T)) {
    T loaded;
    std::memcpy(&loaded, from, sizeof loaded);
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      put<S64>(thread, one.targets[i], loaded);
    } else {
      put<T>(thread, one.targets[i], loaded);
    }
  }
}
template <class T>
void store(Thread& thread, const Instruction& one) {
  const uint64_t address =
      bits_of(thread, one.targets[0]) + static_cast<uint64_t>(one.offset);
  std::byte* to = memory_of(thread, one, address, sizeof(T) * one.width);
  for (int i = 0; i < one.width; ++i, to += sizeof(T)) {
    const T stored = source<T>(thread, one, i);
    std::memcpy(to, &stored, sizeof stored);
  }
}
void compare_and_swap(Thread& thread, const Instruction& one) {
  const uint64_t address =
      bits_of(thread, one.sources[0]) + static_cast<uint64_t>(one.offset);
  std::byte* const at = memory_of(thread, one, address, sizeof(U32));
  U32 before;
  std::memcpy(&before, at, sizeof before);
  if (before == source<U32>(thread, one, 1)) {
    const U32 after = source<U32>(thread, one, 2);
    std::memcpy(at, &after, sizeof after);
  }
  put<U32>(thread, one.targets[0], before);
}

// ---- Control

void branch(Thread& thread, const Instruction& one) {
  thread.next = one.destination;
}
void end(Thread& thread, const Instruction&) { thread.state = State::kEnded; }
void wait(Thread& thread, const Instruction&) {
  thread.state = State::kAtBarrier;
}
// Of all threads of a warp.
void shuffle(Thread& thread, const Instruction& one) {
  thread.shuffle = {source<U32>(thread, one, 0), source<U32>(thread, one, 1),
                    one.targets[0]};
  thread.state = State::kAtShuffle;
}

// ---- Products of matrices

// The bytes that a thread has of a matrix in memory, `line` elements from row
// to row.
std::byte* part_of_matrix(Thread& thread, const Instruction& one,
                          uint64_t address, uint64_t line, uint64_t each) {
  constexpr uint64_t kAlignment = 32;
  const uint64_t lane = thread.registers[kTidX] % 32;
  const uint64_t at = lane / 2 * line + lane % 2 * kOfThread;
  // An address that is not aligned is refused as others are.
  memory_of(thread, one, address,
            address % kAlignment == 0 ? each : kAlignment);
  return memory_of(thread, one, address + at * each, each * kOfThread);
}

void load_matrix(Thread& thread, const Instruction& one) {
  const std::byte* const from =
      part_of_matrix(thread, one, bits_of(thread, one.operands[8]),
                     value<U32>(thread, one.operands[9]), sizeof(U16));
  for (size_t i = 0; i < kOfThread; ++i) {
    U32 pair = 0;
    if (i < kOfThread / 2) {
      std::memcpy(&pair, from + i * sizeof pair, sizeof pair);
    }
    put<U32>(thread, one.operands[i], pair);
  }
}
void store_matrix(Thread& thread, const Instruction& one) {
  std::byte* const to =
      part_of_matrix(thread, one, bits_of(thread, one.operands[0]),
                     value<U32>(thread, one.operands[9]), sizeof(U32));
  for (size_t i = 0; i < kOfThread; ++i) {
    const U32 bits = value<U32>(thread, one.operands[1 + i]);
    std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
  }
}
void multiply_matrices(Thread& thread, const Instruction&) {
  thread.state = State::kAtProduct;
}

using Table = std::unordered_map<std::string_view, Execute>;

#define RC_INTEGERS(name, execute)                              \
  {name ".s32", execute(S32)}, {name ".u32", execute(U32)},     \
      {name ".s64", execute(S64)}, {name ".u64", execute(U64)}, \
      {name ".s16", execute(S16)}, {                            \
    name ".u16", execute(U16)                                   \
  }
#define RC_BITS(name, execute)                                \
  {name ".b16", execute(U16)}, {name ".b32", execute(U32)}, { \
    name ".b64", execute(U64)                                 \
  }
#define RC_COMPARISONS(name, comparison)                 \
  {"setp." name ".s16", compare<S16, comparison>},       \
      {"setp." name ".u16", compare<U16, comparison>},   \
      {"setp." name ".b16", compare<U16, comparison>},   \
      {"setp." name ".s32", compare<S32, comparison>},   \
      {"setp." name ".u32", compare<U32, comparison>},   \
      {"setp." name ".b32", compare<U32, comparison>},   \
      {"setp." name ".s64", compare<S64, comparison>},   \
      {"setp." name ".u64", compare<U64, comparison>},   \
      {"setp." name ".b64", compare<U64, comparison>},   \
      {"setp." name ".f32", compare<F32, comparison>}, { \
    "setp." name ".f64", compare<F64, comparison>        \
  }
#define RC_OF_NUMBERS(name, comparison)              \
  {"setp." name ".f32", compare<F32, comparison>}, { \
    "setp." name ".f64", compare<F64, comparison>    \
  }
#define RC_MEMORY(type, T) \
  {"ld." type, load<T>}, { "st." type, store<T> }

const Table& table() {
#define ADD(T) binary<T, Add>
#define SUB(T) binary<T, Sub>
#define MUL(T) binary<T, Mul>
#define DIV(T) binary<T, Div>
#define REM(T) binary<T, Rem>
#define MIN(T) binary<T, Min>
#define MAX(T) binary<T, Max>
#define AND(T) binary<T, And>
#define OR(T) binary<T, Or>
#define XOR(T) binary<T, Xor>
#define NEG(T) unary<T, Neg>
#define NOT(T) unary<T, Not>
#define SHL(T) shift_left<T>
#define SHR(T) shift_right<T>
#define MAD(T) multiply_add_low<T>
#define SELECT(T) select<T>
#define MOVE(T) move<T>
#define PACK(T) pack<T>
#define UNPACK(T) unpack<T>
  static const Table& kTable = *new Table{
      RC_INTEGERS("add", ADD),
      RC_INTEGERS("sub", SUB),
      RC_INTEGERS("mul.lo", MUL),
      RC_INTEGERS("div", DIV),
      RC_INTEGERS("rem", REM),
      RC_INTEGERS("min", MIN),
      RC_INTEGERS("max", MAX),
      RC_INTEGERS("mad.lo", MAD),
      RC_INTEGERS("neg", NEG),
      RC_INTEGERS("shr", SHR),
      RC_INTEGERS("selp", SELECT),
      RC_INTEGERS("mov", MOVE),
      RC_BITS("and", AND),
      RC_BITS("or", OR),
      RC_BITS("xor", XOR),
      RC_BITS("not", NOT),
      RC_BITS("shl", SHL),
      RC_BITS("shr", SHR),
      RC_BITS("selp", SELECT),
      RC_BITS("mov", MOVE),
      RC_BITS("pack", PACK),
      RC_BITS("unpack", UNPACK),
      {"abs.s32", unary<S32, Abs>},
      {"abs.s64", unary<S64, Abs>},
      {"mul.wide.s16", multiply_wide<S16, S32>},
      {"mul.wide.u16", multiply_wide<U16, U32>},
      {"mul.wide.s32", multiply_wide<S32, S64>},
      {"mul.wide.u32", multiply_wide<U32, U64>},
      {"mul.hi.s32", multiply_high<S32, S64>},
      {"mul.hi.u32", multiply_high<U32, U64>},
      {"bfe.u32", extract_bits},
      {"and.pred", binary<U8, And>},
      {"or.pred", binary<U8, Or>},
      {"xor.pred", binary<U8, Xor>},
      {"not.pred", not_of_predicate},
      {"mov.pred", move<U8>},
      {"add.rn.f32", binary<F32, Add>},
      {"sub.rn.f32", binary<F32, Sub>},
      {"mul.rn.f32", binary<F32, Mul>},
      {"div.rn.f32", binary<F32, Div>},
      {"fma.rn.f32", fma_of<F32>},
      {"rcp.rn.f32", unary<F32, Reciprocal>},
      {"sqrt.rn.f32", unary<F32, Sqrt>},
      {"min.f32", binary<F32, Min>},
      {"max.f32", binary<F32, Max>},
      {"abs.f32", unary<F32, Abs>},
      {"neg.f32", unary<F32, Neg>},
      {"mov.f32", move<F32>},
      {"mov.f64", move<F64>},
      {"selp.f32", select<F32>},
      {"selp.f64", select<F64>},
      RC_COMPARISONS("eq", Eq),
      RC_COMPARISONS("ne", Ne),
      RC_COMPARISONS("lt", Lt),
      RC_COMPARISONS("le", Le),
      RC_COMPARISONS("gt", Gt),
      RC_COMPARISONS("ge", Ge),
      RC_OF_NUMBERS("num", Num),
      RC_OF_NUMBERS("nan", Nan),
      RC_OF_NUMBERS("equ", OrNan<Eq>),
      RC_OF_NUMBERS("neu", OrNan<Ne>),
      RC_OF_NUMBERS("ltu", OrNan<Lt>),
      RC_OF_NUMBERS("leu", OrNan<Le>),
      RC_OF_NUMBERS("gtu", OrNan<Gt>),
      RC_OF_NUMBERS("geu", OrNan<Ge>),
      {"cvt.u64.u32", convert<U64, U32>},
      {"cvt.s64.s32", convert<S64, S32>},
      {"cvt.u32.u64", convert<U32, U64>},
      {"cvt.u32.u16", convert<U32, U16>},
      {"cvt.s32.s16", convert<S32, S16>},
      {"cvt.s32.s8", convert<S32, int8_t>},
      {"cvt.u16.u32", convert<U16, U32>},
      {"cvt.u16.u64", convert<U16, U64>},
      {"cvt.u64.u16", convert<U64, U16>},
      {"cvt.s64.s16", convert<S64, S16>},
      {"cvt.s64.s8", convert<S64, int8_t>},
      {"cvt.s16.s8", convert<S16, int8_t>},
      {"cvt.rn.f32.s16", convert<F32, S16>},
      {"cvt.rn.f32.u16", convert<F32, U16>},
      {"cvt.rn.f32.s32", convert<F32, S32>},
      {"cvt.rn.f32.u32", convert<F32, U32>},
      {"cvt.rn.f32.s64", convert<F32, S64>},
      {"cvt.rn.f32.u64", convert<F32, U64>},
      {"cvt.rn.f32.f64", convert<F32, F64>},
      {"cvt.f64.f32", convert<F64, F32>},
      {"cvt.rzi.s16.f32", convert_to_integer<S16>},
      {"cvt.rzi.s32.f32", convert_to_integer<S32>},
      {"cvt.rzi.s64.f32", convert_to_integer<S64>},
      {"cvt.rni.f32.f32", round_to_even},
      {"cvt.rn.f16.f32", to_half},
      {"cvt.f32.f16", of_half},
      {"cvta.local.u64", move<U64>},
      {"cvta.to.local.u64", move<U64>},
      {"cvta.shared.u64", move<U64>},
      {"cvta.to.shared.u64", move<U64>},
      {"cvta.to.global.u64", move<U64>},
      RC_MEMORY("u8", U8),
      RC_MEMORY("s8", int8_t),
      RC_MEMORY("u16", U16),
      RC_MEMORY("s16", S16),
      RC_MEMORY("u32", U32),
      RC_MEMORY("s32", S32),
      RC_MEMORY("u64", U64),
      RC_MEMORY("s64", S64),
      RC_MEMORY("f32", F32),
      RC_MEMORY("f64", F64),
      RC_MEMORY("b8", U8),
      RC_MEMORY("b16", U16),
      RC_MEMORY("b32", U32),
      RC_MEMORY("b64", U64),
      {"atom.cas.b32", compare_and_swap},
      {"shfl.sync.bfly.b32", shuffle},
      {"wmma.load.a.sync.aligned.row.m16n16k16.f16", load_matrix},
      {"wmma.load.b.sync.aligned.col.m16n16k16.f16", load_matrix},
      {"wmma.store.d.sync.aligned.row.m16n16k16.f32", store_matrix},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", multiply_matrices},
      {"bra", branch},
      {"bra.uni", branch},
      {"bar.sync", wait},
      {"ret", end},
  };
  return kTable;
}

}  // namespace

Execute find_instruction(std::string_view name) {
  const auto found = table().find(name);
  return found != table().end() ? found->second : nullptr;
}

}  // namespace rc::ptx

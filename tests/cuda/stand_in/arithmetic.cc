#include <cmath>
#include <type_traits>

#include "instruction.h"

namespace rc::ptx {
namespace {

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

}  // namespace

const Table& arithmetic() {
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
      RC_BITS("and", AND),
      RC_BITS("or", OR),
      RC_BITS("xor", XOR),
      RC_BITS("not", NOT),
      RC_BITS("shl", SHL),
      RC_BITS("shr", SHR),
      RC_BITS("selp", SELECT),
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
  };
  return kTable;
}

}  // namespace rc::ptx

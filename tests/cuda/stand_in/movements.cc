#include <cmath>
#include <limits>
#include <type_traits>

#include "instruction.h"
#include "tensor/half.h"

namespace rc::ptx {
namespace {

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

#define RC_MEMORY(type, T) \
  {"ld." type, load<T>}, { "st." type, store<T> }

#define MOVE(T) move<T>
#define PACK(T) pack<T>
#define UNPACK(T) unpack<T>

}  // namespace

const Table& movements() {
  static const Table& kTable = *new Table{
      RC_INTEGERS("mov", MOVE),
      RC_BITS("mov", MOVE),
      RC_BITS("pack", PACK),
      RC_BITS("unpack", UNPACK),
      {"mov.pred", move<U8>},
      {"mov.f32", move<F32>},
      {"mov.f64", move<F64>},
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

Execute find_instruction(std::string_view name) {
  for (const Table* const table : {&arithmetic(), &movements()}) {
    const auto found = table->find(name);
    if (found != table->end()) return found->second;
  }
  return nullptr;
}

}  // namespace rc::ptx

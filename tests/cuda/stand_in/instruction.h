// What the functions of instructions are made of: operands of a thread as
// values.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "machine.h"
#include "ptx.h"

namespace rc::ptx {

using S16 = int16_t;
using S32 = int32_t;
using S64 = int64_t;
using U8 = uint8_t;
using U16 = uint16_t;
using U32 = uint32_t;
using U64 = uint64_t;
using F32 = float;
using F64 = double;

inline uint64_t bits_of(const Thread& thread, const Operand& operand) {
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

// Functions by the names of their instructions, without space and vector.
using Table = std::unordered_map<std::string_view, Execute>;

// The tables of each file: arithmetic with comparisons, and moves with control.
const Table& arithmetic();
const Table& movements();

// An instruction of integers of each type, and of each number of bits;
// `execute` is a macro that gives the function of a type.
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

}  // namespace rc::ptx

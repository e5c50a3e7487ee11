// Runs kernels in PTX: groups one after the other, and the threads of a group
// in turns, from one place where they wait for each other to the next. The
// order of both follows from a seed, so that the result of a kernel without a
// necessary barrier differs from seed to seed. Every access to memory is
// checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "ptx.h"
#include "streams/ranges.h"

namespace rc::ptx {

enum class State { kRunning, kAtBarrier, kAtShuffle, kAtProduct, kEnded };

// A value that threads of a warp exchange.
struct Shuffle {
  uint32_t value = 0;
  uint32_t mask = 0;
  Operand target;
};

// A matrix of 16 by 16, of which each thread of a warp has eight numbers of one
// row: thread t those from 8 (t % 2) on of row t / 2.
inline constexpr int kSide = 16;
inline constexpr int kOfThread = 8;

class Group;

struct Thread {
  Group* group = nullptr;
  std::vector<uint64_t> registers;
  std::vector<std::byte> local;
  size_t next = 0;  // the instruction
  State state = State::kRunning;
  Shuffle shuffle;
};

struct Grid {
  const Module* module = nullptr;
  const Entry* entry = nullptr;
  uint32_t groups[3] = {1, 1, 1};
  uint32_t threads = 1;  // of a group
  std::vector<std::byte> parameters;
};

// Throws std::runtime_error, naming kernel, line and thread, for an access
// beyond memory and for threads that do not come to the same barrier.
void run(const Grid& grid, const stand_in::Ranges& memory,
         std::mt19937_64* random);

// The memory of an access of a thread. Throws as above.
std::byte* memory_of(Thread& thread, const Instruction& instruction,
                     uint64_t address, uint64_t bytes);

}  // namespace rc::ptx

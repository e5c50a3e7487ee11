#include "machine.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>

#include "tensor/half.h"

namespace rc::ptx {

class Group {
 public:
  Group(const Grid& grid, const stand_in::Ranges& memory,
        std::mt19937_64* random)
      : grid_(grid),
        memory_(memory),
        random_(*random),
        threads_(grid.threads),
        order_(grid.threads) {
    std::iota(order_.begin(), order_.end(), 0);
    for (Thread& thread : threads_) {
      thread.group = this;
      thread.registers.resize(grid.entry->registers);
      thread.local.resize(grid.entry->local_bytes);
    }
  }

  void run(uint64_t number) {
    begin(number);
    do {
      std::shuffle(order_.begin(), order_.end(), random_);
      for (const uint32_t i : order_) resume(threads_[i]);
    } while (meet());
  }

  std::byte* memory(Thread& thread, const Instruction& instruction,
                    uint64_t address, uint64_t bytes) {
    const auto within = [&](auto& room) -> std::byte* {
      const bool fits =
          address <= room.size() && bytes <= room.size() - address;
      return fits ? const_cast<std::byte*>(room.data()) + address : nullptr;
    };
    const auto within_a_variable = [&](auto& room) -> std::byte* {
      for (const Variable& one : grid_.entry->variables) {
        if (one.space == instruction.space && address >= one.offset &&
            address - one.offset <= one.bytes &&
            bytes <= one.bytes - (address - one.offset)) {
          return room.data() + address;
        }
      }
      return nullptr;
    };
    std::byte* found = nullptr;
    switch (instruction.space) {
      case Space::kGlobal:
        found = global(address, bytes);
        break;
      case Space::kShared:
        found = within_a_variable(shared_);
        break;
      case Space::kLocal:
        found = within_a_variable(thread.local);
        break;
      case Space::kConst:
        found = within(grid_.module->constants);
        break;
      case Space::kParam:
        found = within(grid_.parameters);
        break;
      case Space::kNone:
        break;
    }
    if (found == nullptr || address % bytes != 0) {
      stop(thread, instruction.line,
           "accesses " + std::to_string(bytes) + " bytes at " +
               std::to_string(address) + " of space " +
               std::to_string(static_cast<int>(instruction.space)) +
               (found == nullptr ? ", which are not its own"
                                 : ", which are not aligned"));
    }
    return found;
  }

 private:
  [[noreturn]] void stop(const Thread& thread, int line,
                         const std::string& reason) const {
    throw std::runtime_error(
        "kernel " + grid_.entry->name + ", line " + std::to_string(line) +
        ": thread " + std::to_string(&thread - threads_.data()) + " of " +
        std::to_string(threads_.size()) + " " + reason);
  }

  // Most accesses are within the range of the one before.
  std::byte* global(uint64_t address, uint64_t bytes) {
    constexpr uint64_t kPage = 64;
    if (address / kPage != page_ || (address + bytes - 1) / kPage != page_) {
      if (memory_.find(address, bytes) == nullptr) return nullptr;
      // A whole line within memory need not be looked up again.
      const uint64_t line = address / kPage;
      page_ = memory_.find(line * kPage, kPage) != nullptr ? line : UINT64_MAX;
    }
    return reinterpret_cast<std::byte*>(address);
  }

  void begin(uint64_t number) {
    const uint32_t* const groups = grid_.groups;
    // Unwritten memory shows as NaNs.
    shared_.assign(grid_.entry->shared_bytes, std::byte{0xFF});
    for (size_t i = 0; i < threads_.size(); ++i) {
      Thread& thread = threads_[i];
      std::fill(thread.local.begin(), thread.local.end(), std::byte{0xFF});
      auto& registers = thread.registers;
      registers[kTidX] = i;
      registers[kTidY] = registers[kTidZ] = 0;
      registers[kCtaidX] = number % groups[0];
      registers[kCtaidY] = number / groups[0] % groups[1];
      registers[kCtaidZ] = number / groups[0] / groups[1];
      registers[kNctaidX] = groups[0];
      registers[kNctaidY] = groups[1];
      registers[kNctaidZ] = groups[2];
      registers[kNtidX] = threads_.size();
      thread.next = 0;
      thread.state = State::kRunning;
    }
  }

  // Until it waits or ends.
  void resume(Thread& thread) {
    if (thread.state == State::kEnded || thread.state == State::kAtBarrier) {
      return;
    }
    thread.state = State::kRunning;
    const auto& instructions = grid_.entry->instructions;
    while (thread.state == State::kRunning) {
      if (thread.next >= instructions.size()) {
        stop(thread, 0, "runs beyond the end");
      }
      const Instruction& one = instructions[thread.next++];
      if (one.guard >= 0 && (thread.registers[static_cast<size_t>(one.guard)] !=
                             0) == one.guard_is_negated) {
        continue;
      }
      one.execute(thread, one);
    }
  }

  int line_of(const Thread& thread) const {
    return grid_.entry->instructions[thread.next - 1].line;
  }

  // After a turn of all: exchanges values of warps, or passes a barrier. False:
  // all have ended.
  bool meet() {
    constexpr size_t kWarp = 32;
    bool exchanged = false;
    for (size_t first = 0; first < threads_.size(); first += kWarp) {
      const size_t end = std::min(first + kWarp, threads_.size());
      const State state = threads_[first].state;
      if (state != State::kAtShuffle && state != State::kAtProduct) continue;
      exchanged = true;
      for (size_t i = first; i < end; ++i) {
        expect_alike(threads_[i], threads_[first]);
      }
      if (state == State::kAtProduct) {
        if (end - first != kWarp) stop(threads_[first], 0, "is of half a warp");
        multiply(&threads_[first]);
        continue;
      }
      for (size_t i = first; i < end; ++i) {
        Thread& thread = threads_[i];
        const size_t other = first + ((i - first) ^ thread.shuffle.mask);
        if (other >= end) stop(thread, line_of(thread), "asks no thread");
        thread.registers[thread.shuffle.target.number] =
            threads_[other].shuffle.value;
      }
    }
    if (exchanged) return true;
    for (const Thread& thread : threads_) expect_alike(thread, threads_[0]);
    if (threads_[0].state == State::kEnded) return false;
    for (Thread& thread : threads_) thread.state = State::kRunning;
    return true;
  }

  // d = a b + c, of the operands d, a, b and c, eight registers each, of the
  // threads of a warp; b is transposed. In a and b four have two numbers each.
  void multiply(Thread* warp) const {
    const Instruction& one = grid_.entry->instructions[warp->next - 1];
    const auto number = [&](int matrix, int row, int column) {
      const int place = column % kOfThread;
      const Operand& operand =
          one.operands[static_cast<size_t>(kOfThread * matrix + place / 2)];
      const uint64_t pair =
          warp[row * 2 + column / kOfThread].registers[operand.number];
      return f16_to_f32(static_cast<uint16_t>(pair >> (place % 2 * 16)));
    };
    float sums[kSide][kSide];
    for (int row = 0; row < kSide; ++row) {
      for (int column = 0; column < kSide; ++column) {
        double sum = 0;
        for (int k = 0; k < kSide; ++k) {
          sum += double{number(1, row, k)} * double{number(2, column, k)};
        }
        sums[row][column] = static_cast<float>(sum);
      }
    }
    for (int row = 0; row < kSide; ++row) {
      for (int column = 0; column < kSide; ++column) {
        Thread& thread = warp[row * 2 + column / kOfThread];
        const auto place = static_cast<size_t>(column % kOfThread);
        const Operand& before = one.operands[3 * kOfThread + place];
        const auto bits =
            static_cast<uint32_t>(thread.registers[before.number]);
        const float sum = std::bit_cast<float>(bits) + sums[row][column];
        thread.registers[one.operands[place].number] =
            std::bit_cast<uint32_t>(sum);
      }
    }
  }

  void expect_alike(const Thread& thread, const Thread& first) const {
    if (thread.state != first.state ||
        (thread.state != State::kEnded && thread.next != first.next)) {
      stop(thread, line_of(thread),
           "waits or has ended where another, in line " +
               std::to_string(line_of(first)) + ", does not");
    }
  }

  const Grid& grid_;
  const stand_in::Ranges& memory_;
  std::mt19937_64& random_;
  std::vector<Thread> threads_;
  std::vector<uint32_t> order_;
  std::vector<std::byte> shared_;
  uint64_t page_ = UINT64_MAX;
};

std::byte* memory_of(Thread& thread, const Instruction& instruction,
                     uint64_t address, uint64_t bytes) {
  return thread.group->memory(thread, instruction, address, bytes);
}

void run(const Grid& grid, const stand_in::Ranges& memory,
         std::mt19937_64* random) {
  std::vector<uint64_t> numbers(uint64_t{grid.groups[0]} * grid.groups[1] *
                                grid.groups[2]);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), *random);
  Group group(grid, memory, random);
  for (const uint64_t number : numbers) group.run(number);
}

}  // namespace rc::ptx

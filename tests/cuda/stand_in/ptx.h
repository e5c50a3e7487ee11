// Kernels in PTX, as a machine of the tests reads them: NVIDIA's "Parallel
// Thread Execution ISA", of which it knows what Clang makes of the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rc::ptx {

struct Thread;
struct Instruction;

// Executes one instruction of a thread. The program counter is beyond it.
using Execute = void (*)(Thread& thread, const Instruction& instruction);

struct Operand {
  bool is_register = false;
  uint32_t number = 0;  // of the register
  uint64_t bits = 0;    // of an immediate value, or of an address
};

enum class Space : uint8_t { kNone, kGlobal, kShared, kLocal, kConst, kParam };

struct Instruction {
  Execute execute = nullptr;
  int32_t guard = -1;  // the register of its predicate; -1: none
  bool guard_is_negated = false;
  Space space = Space::kNone;
  uint8_t width = 1;  // elements that it moves
  // Registers; of more than four all are in `operands`.
  Operand targets[4];
  Operand sources[4];
  std::vector<Operand> operands;  // of a product of matrices, in their order
  int64_t offset = 0;             // of the address
  size_t destination = 0;         // of a branch
  int line = 0;                   // in the text
};

// Where a variable lies in its space.
struct Variable {
  Space space = Space::kNone;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct Entry {
  std::string name;
  std::vector<Instruction> instructions;
  uint32_t registers = 0;
  uint64_t parameter_bytes = 0;
  // With gaps that no access may touch between the variables.
  uint64_t shared_bytes = 0;
  uint64_t local_bytes = 0;
  std::vector<Variable> variables;  // in them
  uint32_t group[3] = {};           // .reqntid; 0: not stated
};

struct Module {
  std::map<std::string, Entry> entries;
  std::vector<std::byte> constants;
};

// Throws std::runtime_error with the line and the reason.
Module parse(std::string_view text);

// The registers that every thread has; others follow.
enum SpecialRegister : uint32_t {
  kTidX,
  kTidY,
  kTidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kNtidX,
  kSpecialRegisters
};

// The function of an instruction, such as "add.s32"; nullptr if there is none.
Execute find_instruction(std::string_view name);

}  // namespace rc::ptx

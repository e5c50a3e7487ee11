#include "backends/amx_util.h"

#if defined(__x86_64__) && defined(__linux__)

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>

namespace rc::cpu_test {
namespace {

struct Shapes {  // as LDTILECFG reads them
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(Shapes) == 64);

struct State {
  Shapes shapes;  // palette 0: none
  uint8_t registers[8][16][64];
  int64_t products;
};
thread_local State state;

struct sigaction before;

// A decoded instruction. The scaled index is not part of `memory`: it counts
// rows where a register is loaded or stored.
struct Instruction {
  enum Prefix { kNone, k66, kF3, kF2 };
  uint8_t opcode, prefix;
  int reg, rm, vvvv;  // registers
  bool of_memory;
  uint64_t memory, index;
  int size;
};

uint64_t general(const ucontext_t& context, int number) {
  constexpr int kPlaces[16] = {
      REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(context.uc_mcontext.gregs[kPlaces[number]]);
}

// Decodes instructions with a VEX prefix of three bytes, in the map 0F38, of
// 128 bits and W0.
bool decode(const ucontext_t& context, Instruction& out) {
  const auto* code =
      reinterpret_cast<const uint8_t*>(context.uc_mcontext.gregs[REG_RIP]);
  if (code[0] != 0xC4 || (code[1] & 0x1F) != 2 || (code[2] & 0x84) != 0) {
    return false;
  }
  const auto extend = [&](int bit) { return code[1] >> bit & 1 ? 0 : 8; };
  out.prefix = code[2] & 3;
  out.vvvv = ~code[2] >> 3 & 15;
  out.opcode = code[3];
  const int mode = code[4] >> 6;
  out.reg = (code[4] >> 3 & 7) + extend(7);
  out.rm = (code[4] & 7) + extend(5);
  out.of_memory = mode != 3;
  out.memory = out.index = 0;
  out.size = 5;
  if (!out.of_memory) return true;
  int base = out.rm;
  bool relative = mode == 0 && (base & 7) == 5, no_base = false;
  if ((code[4] & 7) == 4) {
    const int index = (code[5] >> 3 & 7) + extend(6);
    base = (code[5] & 7) + extend(5);
    no_base = mode == 0 && (base & 7) == 5;
    if (index != 4) out.index = general(context, index) << (code[5] >> 6);
    out.size = 6;
  }
  int32_t distance = 0;
  if (mode == 1) {
    distance = static_cast<int8_t>(code[out.size]);
    out.size += 1;
  } else if (mode == 2 || relative || no_base) {
    std::memcpy(&distance, code + out.size, 4);
    out.size += 4;
  }
  if (relative) {
    out.memory = reinterpret_cast<uint64_t>(code) + out.size;
  } else if (!no_base) {
    out.memory = general(context, base);
  }
  out.memory += static_cast<int64_t>(distance);
  return true;
}

bool valid(const Shapes& shapes) {
  if (shapes.palette != 1 || shapes.start_row != 0) return false;
  for (uint8_t byte : shapes.reserved) {
    if (byte != 0) return false;
  }
  for (int i = 0; i < 16; ++i) {
    if (shapes.row_bytes[i] > 64 || shapes.rows[i] > 16) return false;
    if ((shapes.row_bytes[i] == 0) != (shapes.rows[i] == 0)) return false;
    if (i >= 8 && shapes.rows[i] != 0) return false;
  }
  return true;
}

const char* configure(const uint8_t* from) {
  Shapes shapes;
  std::memcpy(&shapes, from, sizeof(shapes));
  if (!valid(shapes)) return "shapes that registers cannot have";
  state.shapes = shapes;
  std::memset(state.registers, 0, sizeof(state.registers));
  return nullptr;
}

const char* move(const Instruction& in, bool load) {
  if (in.reg > 7 || state.shapes.rows[in.reg] == 0) {
    return "a register without a shape";
  }
  auto& reg = state.registers[in.reg];
  if (load) std::memset(reg, 0, sizeof(reg));
  const size_t bytes = state.shapes.row_bytes[in.reg];
  for (int row = 0; row < state.shapes.rows[in.reg]; ++row) {
    auto* memory = reinterpret_cast<uint8_t*>(in.memory + row * in.index);
    if (load) {
      std::memcpy(reg[row], memory, bytes);
    } else {
      std::memcpy(memory, reg[row], bytes);
    }
  }
  return nullptr;
}

// TDPBSUD: the signed bytes of rm times the unsigned ones of vvvv.
const char* multiply(const Instruction& in) {
  const Shapes& shapes = state.shapes;
  const int y = in.reg, a = in.rm, b = in.vvvv;
  if (y > 7 || a > 7 || b > 7) return "a register that does not exist";
  if (y == a || y == b || a == b) return "a product of one register twice";
  if (shapes.rows[y] == 0 || shapes.rows[y] != shapes.rows[a] ||
      shapes.row_bytes[y] != shapes.row_bytes[b] ||
      shapes.row_bytes[a] != 4 * shapes.rows[b] ||
      shapes.row_bytes[y] % 4 != 0) {
    return "a product of shapes that do not fit";
  }
  for (int m = 0; m < shapes.rows[y]; ++m) {
    for (int n = 0; n < shapes.row_bytes[y] / 4; ++n) {
      uint32_t sum;
      std::memcpy(&sum, state.registers[y][m] + 4 * n, 4);
      for (int k = 0; k < shapes.rows[b]; ++k) {
        for (int i = 0; i < 4; ++i) {
          const int left =
              static_cast<int8_t>(state.registers[a][m][4 * k + i]);
          const int right = state.registers[b][k][4 * n + i];
          sum += static_cast<uint32_t>(left * right);
        }
      }
      std::memcpy(state.registers[y][m] + 4 * n, &sum, 4);
    }
  }
  ++state.products;
  return nullptr;
}

const char* execute(const Instruction& in) {
  using I = Instruction;
  if (in.opcode == 0x49 && in.prefix == I::kNone && in.of_memory) {
    return configure(reinterpret_cast<const uint8_t*>(in.memory + in.index));
  }
  if (in.opcode == 0x49 && in.prefix == I::kNone) {
    state.shapes = {};
    return nullptr;
  }
  if (state.shapes.palette == 0) return "a register without a shape";
  if (in.opcode == 0x49 && in.prefix == I::kF2 && !in.of_memory) {
    std::memset(state.registers[in.reg & 7], 0, sizeof(state.registers[0]));
    return nullptr;
  }
  if (in.opcode == 0x4B && in.of_memory && in.prefix >= I::kF3) {
    return move(in, in.prefix == I::kF2);
  }
  if (in.opcode == 0x5E && in.prefix == I::kF3 && !in.of_memory) {
    return multiply(in);
  }
  return "an instruction that is not emulated";
}

void on_trap(int, siginfo_t*, void* user) {
  auto& context = *static_cast<ucontext_t*>(user);
  Instruction in;
  const char* trouble =
      decode(context, in) ? execute(in) : "an instruction that is not of AMX";
  if (trouble == nullptr) {
    context.uc_mcontext.gregs[REG_RIP] += in.size;
    return;
  }
  constexpr char kFrom[] = "AMX emulator: ";
  (void)!write(STDERR_FILENO, kFrom, sizeof(kFrom) - 1);
  (void)!write(STDERR_FILENO, trouble, std::strlen(trouble));
  (void)!write(STDERR_FILENO, "\n", 1);
  // The instruction comes again.
  struct sigaction fatal = {};
  fatal.sa_handler = SIG_DFL;
  sigaction(SIGILL, &fatal, nullptr);
}

}  // namespace

AmxEmulator::AmxEmulator() {
  struct sigaction action = {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, &before);
}

AmxEmulator::~AmxEmulator() { sigaction(SIGILL, &before, nullptr); }

int64_t AmxEmulator::products() { return state.products; }

bool AmxEmulator::configured() { return state.shapes.palette != 0; }

}  // namespace rc::cpu_test

#endif

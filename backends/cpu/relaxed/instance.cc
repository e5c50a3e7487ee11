#include "cpu/relaxed.h"

#include <emscripten/em_js.h>
#include <emscripten/emscripten.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/thread_owned.h"
#include "tensor/formats/formats.h"

// Makes the instance of this thread, if there is none yet, and gives it a
// stack: where in this thread's table its function is then; 0 if it cannot be.
EM_JS(int, rc_relaxed_instance,
      (const uint8_t* module, size_t size, void* stack), {
        try {
          if (!Module["relaxed"]) {
            var all = new Uint8Array(wasmMemory.buffer);
            // A copy: code is not compiled from memory that is shared.
            var bytes = all.slice(module >>> 0, (module >>> 0) + size);
            var made =
                new WebAssembly.Instance(new WebAssembly.Module(bytes),
                                         {"env" : {"memory" : wasmMemory}});
            var at = wasmTable.grow(1);
            wasmTable.set(at, made.exports["rc_relaxed_multiply"]);
            Module["relaxed"] = {
              "at" : at,
              "stack" : made.exports["__stack_pointer"]
            };
          }
          Module["relaxed"]["stack"].value = stack;
          return Module["relaxed"]["at"];
        } catch (error) {
          return 0;
        }
      });

namespace rc::cpu {

namespace simd128 {
extern const Kernels kKernels;
}

namespace {

// As relaxed/module.cc has it: 0 if it has no products of that type.
using Multiply = int32_t (*)(rc_dtype weight, const LinearTask& task);

// Set once, before any thread computes.
const uint8_t* given_module = nullptr;
size_t given_size = 0;

// The instance that a thread has made.
class Instance {
 public:
  Instance() noexcept : stack_(std::malloc(kStackBytes)) {
    if (stack_ == nullptr) return;
    const int at = rc_relaxed_instance(
        given_module, given_size, static_cast<char*>(stack_) + kStackBytes);
    multiply_ = reinterpret_cast<Multiply>(at);
  }
  ~Instance() { std::free(stack_); }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  bool is_there() const { return multiply_ != nullptr; }
  // False: there is no product of that type.
  bool multiply(rc_dtype weight, const LinearTask& task) const {
    return multiply_(weight, task) != 0;
  }

 private:
  // Twice what a product takes; relaxed/module.cmake has the compiler see to
  // it.
  static constexpr size_t kStackBytes = 128 * 1024;

  void* stack_;
  Multiply multiply_ = nullptr;
};

// Returns the instance of the calling thread, or nullptr if there is none, for
// example because memory ran out.
const Instance* instance() {
  const Instance* const made = ThreadOwned<Instance>::get();
  return made != nullptr && made->is_there() ? made : nullptr;
}

// The bits are the same either way.
template <size_t index>
void multiply(const LinearTask& task) {
  constexpr rc_dtype weight = kBlockFormats[index].dtype;
  const Instance* const own = instance();
  if (own != nullptr && own->multiply(weight, task)) return;
  simd128::kKernels.linear(weight)(task);
}

template <size_t... index>
constexpr std::array<LinearFunction, sizeof...(index)> all(
    std::index_sequence<index...>) {
  return {multiply<index>...};
}

LinearFunction linear(rc_dtype weight) {
  static constexpr auto functions =
      all(std::make_index_sequence<kBlockFormatCount>());
  const LinearFunction other = simd128::kKernels.linear(weight);
  for (size_t i = 0; other != nullptr && i < functions.size(); ++i) {
    if (kBlockFormats[i].dtype == weight) return functions[i];
  }
  return other;
}

}  // namespace

bool has_relaxed() { return given_module != nullptr && instance() != nullptr; }

const Kernels& relaxed_kernels() {
  static const Kernels kernels = [] {
    Kernels same = simd128::kKernels;
    same.linear = linear;
    return same;
  }();
  return kernels;
}

}  // namespace rc::cpu

// Gives the library the module of the level `relaxed`, which malloc has given
// and which is the library's from then on: before any backend is opened, once.
extern "C" EMSCRIPTEN_KEEPALIVE void rc_web_relaxed(const uint8_t* module,
                                                    size_t size) {
  rc::cpu::given_module = module;
  rc::cpu::given_size = size;
}

#include "streams/tuning.h"

#include <cstdlib>

namespace rc::streams {

Tuning gpu_tuning() {
  Tuning tuning;
  tuning.few = 4;
  tuning.reduce = 128;
  tuning.attention = 32;
  tuning.product_lanes = 32;
  tuning.product_rows = tuning.product_columns = 64;
  tuning.product_depth = 32;
  tuning.each = 1;
  tuning.decode_each = 64;
  tuning.line_part = 4096;
  tuning.route = 1;
  // The limit of grids.
  tuning.groups = 65535;
  // Kernels count bytes of what is bound in 32 bits, to the end of the last
  // group, which has less than these.
  constexpr uint32_t kGroupBytes = 16 << 20;
  tuning.range = UINT32_MAX - kGroupBytes;
  return tuning;
}

void apply_choices(const char* variable, uint32_t most_items, Tuning* tuning) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return;
  gpu::apply_choices(variable, text,
                     {{"few", &tuning->few, 1, UINT32_MAX},
                      {"parts", &tuning->parts, 1, most_items / tuning->tile},
                      {"matrices", &tuning->matrices, 0, UINT32_MAX},
                      {"attention", &tuning->attention, 1, most_items},
                      {"reduce", &tuning->reduce, 1, most_items},
                      {"graphs", &tuning->graphs, 0, 1},
                      {"speed", &tuning->speed, 1, UINT32_MAX}});
}

}  // namespace rc::streams

// Ops over one dimension: LAYER_NORM, SOFTMAX, REDUCE and ARGMAX.
#include <algorithm>

#include "opencl/arguments.h"
#include "opencl/compiler.h"
#include "opencl/walk.h"

namespace rc::opencl {
namespace {

// Longer lines are cut into parts, so that there is enough to do at once.
constexpr int64_t kWhole = 16384;
constexpr int64_t kPart = 4096;

// How lines.cl goes over x [outer, n, inner].
struct Lines {
  int64_t outer, n, inner;
  int64_t part, parts;
  bool along;
  uint32_t lanes;
  Device& device;

  Lines(Device& of, int64_t outer_count, int64_t count, int64_t inner_count,
        bool always_along)
      : outer(outer_count), n(count), inner(inner_count), device(of) {
    const Tuning& tuning = device.tuning();
    parts = n <= kWhole ? 1 : (n + kPart - 1) / kPart;
    part = parts == 1 ? n : kPart;
    along =
        always_along || inner > 1 || n < std::max(tuning.vector, tuning.reduce);
    lanes = along ? tuning.vector_for(inner) : tuning.vector;
  }
  int64_t rows() const { return outer * parts; }

  Step step(const char* name, bool most) const {
    const Tuning& tuning = device.tuning();
    const uint32_t items = along ? 1 : tuning.reduce;
    Kernel kernel = device.library().kernel(
        "lines.cl", name,
        cat(along ? " -DALONG" : "", most ? " -DMOST" : "",
            definition("GROUP_ITEMS", items)),
        static_cast<int>(lanes));
    const auto work = static_cast<double>(part * inner);
    if (along) {
      return shared_step(std::move(kernel), rows(), (inner + lanes - 1) / lanes,
                         work, tuning);
    }
    Step step;
    step.kernel = std::move(kernel);
    set_rows(rows(), &step);
    step.items[0] = step.group[0] = items;
    step.work.each = work;
    return step;
  }
};

}  // namespace

Step Compiler::layer_norm(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const int64_t d = x.shape[x.rank - 1];
  const Place from = place(op.inputs[0]);
  const Place weight = place(op.inputs[1]);
  const Place bias = place(op.inputs[2]);
  const Place to = place(op.outputs[0]);
  Step made =
      step(device_.library().kernel("layer_norm.cl", "layer_norm",
                                    definition("GROUP_ITEMS", tuning_.reduce)),
           product_of(x, 0, x.rank - 1), tuning_.reduce, tuning_.reduce,
           static_cast<double>(d));
  set_arguments(made.kernel, 0, from.memory, from.offset, weight.memory,
                weight.offset, bias.memory, bias.offset, to.memory, to.offset,
                number(d), op.params.layer_norm.epsilon,
                op.params.layer_norm.center);
  return made;
}

void Compiler::reduce(const Op& op, bool most, const Place& to,
                      const Place& to_places, float divisor) {
  const rc_plugin_value& x = input(op, 0);
  Place from = place(op.inputs[0]);
  Place from_places;
  int64_t n = x.shape[1];
  while (true) {
    const Lines lines(device_, x.shape[0], n, x.shape[2],
                      from_places.memory != nullptr);
    const bool last = lines.parts == 1;
    const int64_t results = lines.rows() * lines.inner;
    const Place out = last ? to : keep(results);
    const Place out_places = last                          ? to_places
                             : to_places.memory != nullptr ? keep(results)
                                                           : Place{};
    Step step = lines.step("reduce", most);
    set_arguments(step.kernel, 0, from.memory, from.offset, from_places.memory,
                  out.memory, out.offset, out_places.memory, out_places.offset,
                  number(n), number(lines.inner), number(lines.part),
                  number(lines.parts), cl_long{lines.rows()},
                  last ? divisor : 1.0f);
    target_.push_back(std::move(step));
    if (last) return;
    from = out;
    from_places = out_places;
    n = lines.parts;
  }
}

void Compiler::softmax(const Op& op) {
  const rc_plugin_value& x = input(op, 0);
  const Place from = place(op.inputs[0]);
  const Place to = place(op.outputs[0]);
  const Lines lines(device_, x.shape[0], x.shape[1], x.shape[2], false);
  const Place largest = keep(lines.rows() * lines.inner);
  const Place totals = keep(lines.rows() * lines.inner);
  Step parts = lines.step("softmax_parts", true);
  set_arguments(parts.kernel, 0, from.memory, from.offset, largest.memory,
                totals.memory, number(lines.n), number(lines.inner),
                number(lines.part), number(lines.parts), cl_long{lines.rows()});
  target_.push_back(std::move(parts));
  if (lines.parts > 1) {
    // All parts of a line at once.
    Lines joined(device_, lines.outer, lines.parts, lines.inner, true);
    joined.parts = 1;
    joined.part = joined.n;
    Step join = joined.step("softmax_join", true);
    set_arguments(join.kernel, 0, largest.memory, totals.memory,
                  number(lines.inner), number(lines.parts),
                  cl_long{lines.outer});
    target_.push_back(std::move(join));
  }
  const Walk walk(x.shape, 3,
                  {Strides{lines.parts * lines.inner, 0, lines.inner > 1}});
  Step last =
      walk.step(device_.library().kernel("tensor_elementwise.cl", "softmax",
                                         Walk::definitions()),
                tuning_, tuning_.vector);
  set_arguments(last.kernel, 0, from.memory, from.offset, largest.memory,
                totals.memory, to.memory, to.offset, walk.sizes(),
                walk.strides(0));
  target_.push_back(std::move(last));
}

}  // namespace rc::opencl

#include "cpu/conv2d_sizes.h"

namespace rc::cpu {

void pick_stretch(const float* line, int64_t width, int64_t step, int64_t from,
                  int64_t first, int64_t count, float* to) {
  const auto reaching = [&](int64_t place) {  // the first j that gets there
    return place <= from ? 0 : (place - from + step - 1) / step;
  };
  const int64_t begin = std::clamp(reaching(0), first, first + count);
  const int64_t end = std::clamp(reaching(width), begin, first + count);
  std::fill_n(to, begin - first, 0.0f);
  if (step == 1) {
    std::copy_n(line + begin + from, end - begin, to + (begin - first));
  } else {
    for (int64_t j = begin; j < end; ++j) to[j - first] = line[j * step + from];
  }
  std::fill_n(to + (end - first), first + count - end, 0.0f);
}

int64_t* window_offsets(Compiler& c, const Conv2dSizes& sizes) {
  auto* offsets = reinterpret_cast<int64_t*>(c.area_of(
      product(static_cast<uint64_t>(sizes.window()), sizeof(int64_t))));
  if (sizes.channels == 0) return offsets;
  int64_t* next = offsets;
  for (int64_t u = 0; u < sizes.kh; ++u) {
    for (int64_t v = 0; v < sizes.kw; ++v) {
      const int64_t column = v * sizes.dilation[1];
      *next++ = u * sizes.dilation[0] * sizes.line() +
                column % sizes.phases() * sizes.phase_width() +
                column / sizes.phases();
    }
  }
  const int64_t taps = sizes.kh * sizes.kw;
  for (; next < offsets + sizes.window(); ++next) {
    *next = next[-taps] + sizes.plane();
  }
  return offsets;
}

float* add_padding(Compiler& c, const Op& op, const Conv2dSizes& sizes) {
  const int64_t rows = sizes.padded_height();
  const int64_t planes = sizes.batch * sizes.groups * sizes.channels;
  auto* to = reinterpret_cast<float*>(c.area_of(product(
      product(product(static_cast<uint64_t>(planes), rows), sizes.line()),
      sizeof(float))));
  const Place x = c.place(op.inputs[0]);
  c.add(
      {c.area(op.inputs[0])}, {c.own_area(op.inputs[0])},
      [=](const Run&) { return planes * rows * sizes.line(); },
      [=](const Run&) { return planes * rows; },
      [=](Run& run, const Share& share) {
        int64_t plane = share.begin / rows;
        int64_t next = share.begin % rows;
        run.each_row(share, [&](int64_t unit) {
          const int64_t row = next - sizes.padding[0];
          const int64_t at = plane * sizes.height + row;
          if (++next == rows) {
            ++plane;
            next = 0;
          }
          float* line = to + unit * sizes.line();
          if (row < 0 || row >= sizes.height) {
            std::fill_n(line, sizes.line(), 0.0f);
            return;
          }
          const float* from = run.at<const float>(x) + at * sizes.width;
          const int64_t phases = sizes.phases();
          if (phases == 1) {
            const int64_t around = sizes.padding[1];
            float* end = line + sizes.line();
            for (int64_t k = 0; k < around; ++k) line[k] = *--end = 0;
            std::copy_n(from, sizes.width, line + around);
            return;
          }
          for (int64_t phase = 0; phase < phases; ++phase) {
            pick_stretch(from, sizes.width, phases, phase - sizes.padding[1], 0,
                         sizes.phase_width(),
                         line + phase * sizes.phase_width());
          }
        });
      });
  return to;
}

}  // namespace rc::cpu

// Values that several steps read and one makes before: quantized activations,
// angles, sorted choices of experts, copies of inputs.
#include <cmath>
#include <cstring>
#include <memory>

#include "cpu/chunks.h"
#include "tensor/dtype.h"

namespace rc::cpu {

Area Compiler::activations_area() const {
  return {Area::kActivations, 0, 0, activation_bytes_};
}

const uint8_t* Compiler::quantized(int32_t i, int64_t width,
                                   ActivationForm form) {
  if (quantized_value_ >= 0 && quantized_form_ == form &&
      same(quantized_value_, i)) {
    return activations_;
  }
  const int64_t dimension = value(i).shape[0];
  const Place x = place(i);
  add_chunks(
      *this, {area(i)}, i, {activations_, form, false},
      {dimension, row_elements(i), width, 1},
      [=](Run& run, int, int64_t at, int64_t count, float*, uint8_t* blocks) {
        quantize(run.kernels, form, run.at<const float>(x) + at, count, blocks);
      });
  set_quantized(i, form);
  return activations_;
}

const float* Compiler::angles(int32_t positions, int32_t frequencies,
                              float scale) {
  const int64_t pairs = columns(frequencies);
  const int64_t dimension = value(positions).shape[0];
  Angles* entry = nullptr;
  for (Angles& known : angles_) {
    if (known.positions == positions && known.frequencies == frequencies &&
        known.scale == scale) {
      if (known.valid) return known.table;
      entry = &known;
    }
  }
  if (entry == nullptr) {
    auto* table = reinterpret_cast<float*>(area_of(
        product(product(static_cast<uint64_t>(max_rows(dimension)), pairs),
                2 * sizeof(float))));
    angles_.push_back({positions, frequencies, scale, table, true});
    entry = &angles_.back();
  }
  entry->valid = true;
  float* table = entry->table;
  const float* frequency = elements(frequencies);
  const Place where = place(positions);
  add(
      {area(positions)}, {{Area::kAngles, 0, 0, UINT64_MAX}},
      [=](const Run& run) { return run.rows(dimension) * pairs * 40; },
      [=](const Run& run) { return run.rows(dimension); },
      [=](Run& run, const Share& share) {
        const int32_t* position = run.at<const int32_t>(where);
        run.each_row(share, [&](int64_t r) {
          float* cosines = table + r * 2 * pairs;
          for (int64_t i = 0; i < pairs; ++i) {
            // In double: a float angle of 100000 is off by 0.004.
            const double angle =
                static_cast<double>(position[r]) * frequency[i];
            cosines[i] = static_cast<float>(std::cos(angle) * scale);
            cosines[pairs + i] = static_cast<float>(std::sin(angle) * scale);
          }
        });
      });
  return table;
}

const Choices* Compiler::choices(int32_t ids, int64_t experts, int64_t chunk) {
  const int64_t dimension = value(ids).shape[0];
  const int64_t k = columns(ids);
  KnownChoices* entry = nullptr;
  for (KnownChoices& known : choices_) {
    if (known.ids == ids && known.experts == experts && known.chunk == chunk) {
      if (known.valid) return known.choices;
      entry = &known;
    }
  }
  if (entry == nullptr) {
    const uint64_t most =
        product(static_cast<uint64_t>(max_rows(dimension)), k);
    auto made =
        std::make_unique<Choices>(static_cast<int32_t>(choices_.size()),
                                  static_cast<int64_t>(most), experts, chunk);
    choices_.push_back({ids, experts, chunk, made.get(), true});
    compiled_.choices_.push_back(std::move(made));
    entry = &choices_.back();
  }
  Choices* choices = entry->choices;
  const Place where = place(ids);
  add(
      {area(ids)}, {choices->area()},
      [=](const Run& run) { return run.rows(dimension) * k * 4; },
      [=](const Run&) { return int64_t{1}; },
      [=](Run& run, const Share&) {
        choices->sort(run, run.at<const int32_t>(where),
                      run.rows(dimension) * k);
      });
  entry->valid = true;
  return choices;
}

Place Compiler::kept(int32_t input) {
  const rc_plugin_value& v = value(input);
  if (v.storage != RC_STORAGE_INPUT) return place(input);
  kept_.resize(program_.input_count);
  uint8_t*& copy = kept_[v.index];
  if (copy == nullptr) {
    copy = area_of(max_bytes(input));
    uint8_t* to = copy;
    const Place from = place(input);
    const int64_t dimension = v.shape[0];
    const uint64_t bytes = v.rank == 1
                               ? *row_bytes(v.dtype, 1)
                               : *row_bytes(v.dtype, row_elements(input));
    add(
        {area(input)}, {kept_area(input)},
        [=](const Run& run) {
          return run.rows(dimension) * static_cast<int64_t>(bytes);
        },
        [=](const Run&) { return int64_t{1}; },
        [=](Run& run, const Share&) {
          std::memcpy(to, run.at<const uint8_t>(from),
                      run.rows(dimension) * bytes);
        });
  }
  Place place{RC_STORAGE_CACHE, 0, 0};
  place.memory = copy;
  return place;
}

}  // namespace rc::cpu

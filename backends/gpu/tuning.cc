#include "gpu/tuning.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "base/error.h"

namespace rc::gpu {

uint32_t Tuning::attention_lanes(uint64_t head) const {
  // Each lane stores a head and two numbers.
  uint32_t lanes = attention;
  while (lanes > 1 && lanes * (head + 2) * sizeof(float) > local_bytes) {
    lanes /= 2;
  }
  return lanes;
}

uint32_t Tuning::vector_for(uint64_t count) const {
  uint32_t found = vector;
  while (found > 1 && found > count) found = found > 4 ? found / 2 : 1;
  return found;
}

void Tuning::fit_products(uint32_t most_lanes, uint64_t shared_bytes) {
  tile = 16;
  parts = std::clamp(most_lanes / tile, 1u, 32u);
  few = 1;
  batch = 4;
  many = most_lanes >= kSquareLanes && shared_bytes >= kSquareBytes ? 32 : 0;
  most = many != 0 && shared_bytes >= kSquareBytes / 2 * 3 ? 256 : 0;
  while (batch > 1 && product_bytes() > shared_bytes) batch /= 2;
}

uint64_t Tuning::product_bytes() const {
  const uint64_t sums = std::max(tiles, batch * batch_tiles);
  return std::max<uint64_t>(4 * sums * tile * parts + 16,
                            most != 0   ? kSquareBytes / 2 * 3
                            : many != 0 ? kSquareBytes
                                        : 0);
}

uint32_t Tuning::parts_for(uint32_t column_groups) const {
  return std::clamp(column_groups / chunk, 1u, parts);
}

uint64_t number_of(const char* variable, std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(RC_E_INVALID_ARGUMENT, variable, " has \"", text,
         "\" where a number is needed");
  }
  return value;
}

void apply_choices(const char* variable, std::string_view text,
                   const std::vector<Choice>& choices) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const size_t equals = std::min(one.find('='), one.size());
    const std::string_view name = one.substr(0, equals);
    const auto choice =
        std::find_if(choices.begin(), choices.end(),
                     [&](const Choice& known) { return known.name == name; });
    if (choice == choices.end()) {
      std::string names;
      for (const Choice& known : choices) {
        names += cat(names.empty() ? "" : ", ", known.name);
      }
      fail(RC_E_INVALID_ARGUMENT, variable, ": there is no \"", name,
           "\"; there are ", names);
    }
    const uint64_t value =
        number_of(variable, one.substr(std::min(equals + 1, one.size())));
    if (value < choice->least || value > choice->most) {
      fail(RC_E_INVALID_ARGUMENT, variable, ": ", name, " is ", value, "; ",
           choice->least, " to ", choice->most, " are possible");
    }
    *choice->value = static_cast<uint32_t>(value);
  }
}

void check_matrices(const char* variable, const Tuning& tuning) {
  if (tuning.matrices == 0 || kMatrixOutputs % tuning.tile == 0) return;
  fail(RC_E_INVALID_ARGUMENT, variable, ": products of matrices with tiles of ",
       tuning.tile, " rows; a tile has to divide ", kMatrixOutputs);
}

}  // namespace rc::gpu

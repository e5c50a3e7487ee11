// The parts of the mixers of state_space.h. The rows of one matrix, and the
// channels of one convolution, belong to several values, which are taken one
// after the other.
#pragma once

#include <string>

#include "model/state_space.h"

namespace rc::model {

// x times the rows of a matrix [size, last of x].
class Products {
 public:
  Products(const StateLayer& layer, std::string weight, int64_t size,
           runtime::Value x)
      : layer_(layer), weight_(std::move(weight)), size_(size), x_(x) {}

  // The product with the next rows.
  runtime::Value next(int64_t count);

 private:
  const StateLayer& layer_;
  const std::string weight_;
  const int64_t size_;
  const runtime::Value x_;
  int64_t row_ = 0;
};

// Of so many channels, with a bias if the file has one. `name` is without
// ".weight".
class Convolutions {
 public:
  Convolutions(const StateLayer& layer, std::string name, int64_t channels,
               int function)
      : layer_(layer),
        name_(std::move(name)),
        channels_(channels),
        function_(function) {}

  // Through the next channels; adds their cache.
  runtime::Value next(runtime::Value values);

 private:
  const StateLayer& layer_;
  const std::string name_;
  const int64_t channels_;
  const int function_;
  int64_t channel_ = 0;
};

// Of length 1, times a factor, over the last dimension.
runtime::Value add_key_norm(runtime::ProgramBuilder& builder, runtime::Value x,
                            double factor);

// The mixers, up to the product that leads back to the width.

// Mamba 2 (Dao and Gu 2024, arXiv:2405.21060): [rows, inner].
runtime::Value add_state_space(const StateLayer& layer, runtime::Value x);
// Mamba (Gu and Dao 2023, arXiv:2312.00752): [rows, inner].
runtime::Value add_channel_space(const StateLayer& layer, runtime::Value x);
// The gated delta rule (Yang, Kautz and Hatamizadeh 2024, arXiv:2412.06464)
// over keys and queries of length 1: [rows, inner].
runtime::Value add_delta_rule(const StateLayer& layer, runtime::Value x);
// The same whose states fade by the column (Kimi Team 2025, arXiv:2510.26692):
// [rows, inner].
runtime::Value add_column_rule(const StateLayer& layer, runtime::Value x);
// A convolution between two gates (Liquid AI 2025, arXiv:2511.23404): [rows,
// width].
runtime::Value add_short_conv(const StateLayer& layer, runtime::Value x);

}  // namespace rc::model

// Linear biases of attention (Press et al. 2021, arXiv:2108.12409).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rc::model {

// The weight that holds alibi_slopes; no tensor of a file has this name.
std::string slopes_weight_name(int64_t heads);

// The decrease of each head's scores by position of distance: of n heads, a
// power of two, `factor` * 2^(-largest * i / n) for i from 1 to n. Of other
// numbers of heads, those of the power below, and then every other one of twice
// that power.
std::vector<float> alibi_slopes(int64_t heads, double largest,
                                double factor = 1.0);

}  // namespace rc::model

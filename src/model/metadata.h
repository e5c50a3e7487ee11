// Metadata of one architecture: keys without its name, values with limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "files/gguf/file.h"

namespace rc::model {

// Throws RC_E_FORMAT naming file, key, value and limit.
class Metadata {
 public:
  // Adds each name that is looked for to `keys`, which must outlive this.
  Metadata(const gguf::File& file, std::string_view architecture,
           std::vector<std::string>& keys)
      : file_(file), architecture_(architecture), keys_(keys) {}

  // Layers behind those that are computed, for which arrays may have values.
  void set_guessing_layers(int64_t count) { guessing_layers_ = count; }

  std::string key(const char* name) const {
    return cat(architecture_, ".", name);
  }

  std::optional<int64_t> find(const char* name, int64_t low,
                              int64_t high) const {
    keys_.emplace_back(name);
    const std::optional<int64_t> value = file_.find_int(key(name));
    if (value && (*value < low || *value > high)) {
      refuse(name, *value, cat("must be ", low, " to ", high));
    }
    return value;
  }

  int64_t get(const char* name, int64_t low, int64_t high) const {
    const std::optional<int64_t> value = find(name, low, high);
    return value ? *value : file_.get_int(key(name));
  }

  // One number for all layers, or an array with one for each; what it has for
  // layers behind them is left out.
  std::optional<std::vector<int64_t>> find_each(const char* name, int64_t low,
                                                int64_t high,
                                                int64_t layers) const;
  std::vector<int64_t> get_each(const char* name, int64_t low, int64_t high,
                                int64_t layers) const;

  // An array of floats, of any length.
  std::optional<std::vector<float>> find_numbers(const char* name) const {
    keys_.emplace_back(name);
    return file_.find_floats(key(name));
  }

  // The comparisons are such that NaN is refused.
  std::optional<float> find_number(const char* name, double low,
                                   double high) const {
    keys_.emplace_back(name);
    const std::optional<double> value = file_.find_float(key(name));
    if (value && !(*value >= low && *value <= high)) {
      refuse(name, *value, cat("must be ", low, " to ", high));
    }
    if (!value) return std::nullopt;
    return static_cast<float>(*value);
  }

  float get_number(const char* name, double low, double high) const {
    const std::optional<float> value = find_number(name, low, high);
    return value ? *value : static_cast<float>(file_.get_float(key(name)));
  }

  // Where 0 in a file stands for its absence.
  std::optional<float> find_positive(const char* name, double low,
                                     double high) const {
    const std::optional<double> value = file_.find_float(key(name));
    keys_.emplace_back(name);
    if (value == 0.0) return std::nullopt;
    return find_number(name, low, high);
  }

  template <class Value>
  [[noreturn]] void refuse(const char* name, const Value& value,
                           const std::string& limit) const {
    fail(RC_E_FORMAT, file_.name(), ": ", key(name), " is ", value, ", but ",
         limit);
  }

  std::optional<bool> find_flag(const char* name) const {
    keys_.emplace_back(name);
    return file_.find_bool(key(name));
  }

  std::optional<std::string_view> find_text(const char* name) const {
    keys_.emplace_back(name);
    return file_.find_string(key(name));
  }

  const gguf::File& file() const { return file_; }

 private:
  const gguf::File& file_;
  std::string_view architecture_;
  std::vector<std::string>& keys_;
  int64_t guessing_layers_ = 0;
};

}  // namespace rc::model

#include "runtime/backend_spec.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/quote.h"

namespace rc::runtime {
namespace {

constexpr const char* kForm =
    "; a choice of backends looks like \"auto\", \"gpu\", \"cpu\", "
    "\"vulkan:1\" "
    "or \"cuda,vulkan:0,cpu\"";

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

bool is_reserved_name(std::string_view name) {
  return name == "auto" || name == "gpu" || name == "hip";
}

std::vector<SpecItem> parse_spec(std::string_view spec) {
  std::vector<SpecItem> items;
  size_t begin = 0;
  while (begin <= spec.size()) {
    const size_t end = std::min(spec.find(',', begin), spec.size());
    const std::string_view part = trim(spec.substr(begin, end - begin));
    begin = end + 1;
    const size_t colon = part.find(':');
    const std::string_view written = part.substr(0, colon);
    const std::string name = in_small_letters(written);
    if (!is_name(name)) {
      fail(RC_E_INVALID_ARGUMENT, "backend spec ", quote(spec), ": ",
           part.empty() ? "a part is empty" : "no backend can be called ",
           part.empty() ? "" : quote(written), kForm);
    }
    SpecItem item = {name == "hip" ? "rocm" : name, std::nullopt};
    if (colon != part.npos) {
      const std::string_view number = part.substr(colon + 1);
      int index = 0;
      const auto [rest, error] =
          std::from_chars(number.data(), number.data() + number.size(), index);
      if (error != std::errc() || rest != number.data() + number.size() ||
          index < 0) {
        fail(RC_E_INVALID_ARGUMENT, "backend spec ", quote(spec), ": ",
             quote(number), " is no number of a device", kForm);
      }
      if (item.is_any()) {
        fail(RC_E_INVALID_ARGUMENT, "backend spec ", quote(spec), ": ", name,
             " chooses the device itself and takes no number", kForm);
      }
      item.index = index;
    }
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace rc::runtime

#include "text/chat/slicing.h"

#include <algorithm>
#include <optional>

#include "base/checked.h"
#include "text/chat/containers.h"
#include "text/chat/objects.h"
#include "text/chat/unicode.h"

namespace rc::text::chat {
namespace {

int64_t bound(const Value& value, int64_t otherwise) {
  if (value.is(Kind::kNone)) return otherwise;
  if (value.is_undefined()) fault_undefined(value);
  if (!value.is_int()) {
    fault("bounds of slices must be whole numbers, not ",
          type_with_article(value));
  }
  return value.as_int();
}

Value slice_of_string(Budget* budget, const Value& value,
                      const SliceIndices& slice) {
  const String& string = value.as_string();
  const Text& text = string.text();
  if (!string.is_ascii()) budget->step_bytes(text.size());
  Writer out(budget);
  if (slice.step == 1) {
    const auto first = static_cast<size_t>(slice.first);
    const size_t begin = string.offset(first);
    const size_t end = slice.count == string.length()
                           ? text.size()
                           : string.offset(first + slice.count);
    out.append(text, begin, std::max(begin, end));
    return out.finish(value.is_markup());
  }
  std::vector<size_t> begins;
  if (!string.is_ascii()) {
    for (const Character& c : characters(text.bytes())) {
      begins.push_back(c.begin);
    }
    begins.push_back(text.size());
  }
  budget->step(slice.count);
  for (size_t i = 0; i < slice.count; ++i) {
    const size_t index = slice.at(i);
    const size_t begin = begins.empty() ? index : begins[index];
    out.append(text, begin, begins.empty() ? index + 1 : begins[index + 1]);
  }
  return out.finish(value.is_markup());
}

Value slice_of_range(Budget* budget, const Range& range,
                     const SliceIndices& slice) {
  // In steps of the range, each of which is within 64 bits or nearly so.
  const auto place = [&](int64_t index) {
    const auto offset = checked_mul(index, range.step());
    return offset ? checked_add(range.start(), *offset) : std::nullopt;
  };
  const auto begin = place(slice.first);
  const auto end = place(slice.last);
  const auto step = checked_mul(range.step(), slice.step);
  if (!begin || !end || !step) {
    fault_of_limit("the slice of the range reaches beyond 64 bits");
  }
  return Value(Kind::kRange, make<Range>(budget, *begin, *end, *step));
}

}  // namespace

SliceIndices slice_indices(const Value& first, const Value& last,
                           const Value& step, size_t size) {
  const int64_t stride = bound(step, 1);
  if (stride == 0) fault("the step of a slice can't be 0");
  const auto count = static_cast<int64_t>(size);
  // The ends that bounds are cut to.
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? count : count - 1;
  const auto place = [&](const Value& value, int64_t otherwise) {
    if (value.is(Kind::kNone)) return otherwise;
    int64_t at = bound(value, 0);
    if (at < 0) at = at < -count ? low : at + count;
    return std::clamp(at, low, high);
  };
  const int64_t from = place(first, stride > 0 ? low : high);
  const int64_t to = place(last, stride > 0 ? high : low);
  size_t elements = 0;
  if (stride > 0 && from < to) {
    elements = static_cast<size_t>((to - from - 1) / stride) + 1;
  } else if (stride < 0 && from > to) {
    // A step below all differences takes one element.
    elements = stride < -count
                   ? 1
                   : static_cast<size_t>((from - to - 1) / -stride) + 1;
  }
  return {from, to, stride, elements};
}

Value slice_value(Budget* budget, const Value& value, const Value& first,
                  const Value& last, const Value& step) {
  const bool has_slices =
      value.is_string() || value.is_sequence() || value.is(Kind::kRange);
  if (!has_slices) fault(type_with_article(value), " has no slices");
  const SliceIndices slice = slice_indices(first, last, step, *length(value));
  if (value.is_string()) return slice_of_string(budget, value, slice);
  if (value.is(Kind::kRange)) {
    return slice_of_range(budget, value.as<Range>(), slice);
  }
  Items items(budget);
  for (size_t i = 0; i < slice.count; ++i) {
    items.push(value.as_sequence().items()[slice.at(i)]);
  }
  return items.finish(value.kind());
}

}  // namespace rc::text::chat

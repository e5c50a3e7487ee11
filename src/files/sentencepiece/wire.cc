#include "files/sentencepiece/wire.h"

#include <bit>
#include <limits>

#include "base/error.h"

namespace rc::sentencepiece {

namespace {

constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

}  // namespace

std::string_view Wire::take(uint64_t count, const char* what) {
  const uint64_t left = message_.size() - at_;
  if (count > left) {
    fail(RC_E_FORMAT, file_, ": ", what, " at byte ", position(), " has ",
         count, " bytes, but its message ends after ", left);
  }
  const std::string_view bytes = message_.substr(at_, count);
  at_ += count;
  return bytes;
}

uint64_t Wire::read_number(const char* what) {
  constexpr unsigned kBits = 7;
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += kBits) {
    const auto byte = static_cast<uint8_t>(take(1, what)[0]);
    const uint64_t part = byte & 0x7F;
    if (shift == 63 && part > 1) break;
    value |= part << shift;
    if (byte < 0x80) return value;
  }
  fail(RC_E_FORMAT, file_, ": ", what, " before byte ", position(),
       " has more than 64 bits");
}

uint64_t Wire::read_bits(uint64_t bytes) {
  uint64_t value = 0;
  const std::string_view source = take(bytes, "a number");
  for (size_t i = source.size(); i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(source[i]);
  }
  return value;
}

bool Wire::next(Field* field) {
  if (at_ == message_.size()) return false;
  const uint64_t start = position();
  const uint64_t tag = read_number("a field");
  const uint64_t number = tag >> 3;
  if (number == 0 || number > kMaxFieldNumber) {
    fail(RC_E_FORMAT, file_, ": the field at byte ", start, " has the number ",
         number, "; 1 to ", kMaxFieldNumber, " are possible");
  }
  *field = {.number = static_cast<uint32_t>(number),
            .type = static_cast<WireType>(tag & 7)};
  switch (field->type) {
    case WireType::kNumber:
      field->value = read_number("a number");
      return true;
    case WireType::kBits64:
      field->value = read_bits(8);
      return true;
    case WireType::kBits32:
      field->value = read_bits(4);
      return true;
    case WireType::kBytes:
      field->bytes = take(read_number("a size"), "a field");
      return true;
  }
  fail(RC_E_FORMAT, file_, ": the field at byte ", start, " is of wire type ",
       tag & 7, "; known are 0, 1, 2, 5");
}

void Wire::expect(const Field& field, WireType type, const char* name) const {
  if (field.type == type) return;
  fail(RC_E_FORMAT, file_, ": ", name, " before byte ", position(),
       " is of wire type ", static_cast<uint32_t>(field.type), ", not ",
       static_cast<uint32_t>(type));
}

Wire Wire::message(const Field& field, const char* name) const {
  const std::string_view inner = bytes(field, name);
  return Wire(inner, file_, position() - inner.size());
}

std::string_view Wire::bytes(const Field& field, const char* name) const {
  expect(field, WireType::kBytes, name);
  return field.bytes;
}

int32_t Wire::int32(const Field& field, const char* name) const {
  expect(field, WireType::kNumber, name);
  const auto value = static_cast<int64_t>(field.value);
  if (value < std::numeric_limits<int32_t>::min() ||
      value > std::numeric_limits<int32_t>::max()) {
    fail(RC_E_FORMAT, file_, ": ", name, " before byte ", position(), " is ",
         value, ", which has more than 32 bits");
  }
  return static_cast<int32_t>(value);
}

bool Wire::flag(const Field& field, const char* name) const {
  expect(field, WireType::kNumber, name);
  return field.value != 0;
}

float Wire::number(const Field& field, const char* name) const {
  expect(field, WireType::kBits32, name);
  return std::bit_cast<float>(static_cast<uint32_t>(field.value));
}

}  // namespace rc::sentencepiece

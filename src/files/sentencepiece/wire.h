// The wire format of Protocol Buffers: a message is a row of fields, each with
// a number and a value whose size the type of the field gives.
//
// A message is hostile until proven otherwise: sizes end within it, numbers
// are not longer than their types, and groups, which no current message has,
// are refused.
//
// Format: https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rc::sentencepiece {

enum class WireType : uint32_t {
  kNumber = 0,  // of 1 to 10 bytes
  kBits64 = 1,
  kBytes = 2,  // text, or a message
  kBits32 = 5,
};

struct Field {
  uint32_t number = 0;
  WireType type = WireType::kNumber;
  uint64_t value = 0;        // of all types but kBytes
  std::string_view bytes{};  // of kBytes; a view into the message
};

class Wire {
 public:
  // `file` is for messages and must outlive this; `at` is where the message
  // begins in it.
  Wire(std::string_view message, const std::string& file, uint64_t at = 0)
      : message_(message), file_(file), base_(at) {}

  // The next field; false at the end. Throws RC_E_FORMAT naming file and byte.
  bool next(Field* field);
  // The field that was read last, as what its number stands for; `name` is for
  // messages. Each throws RC_E_FORMAT if it has another type or more bits.
  Wire message(const Field& field, const char* name) const;
  std::string_view bytes(const Field& field, const char* name) const;
  int32_t int32(const Field& field, const char* name) const;
  bool flag(const Field& field, const char* name) const;
  float number(const Field& field, const char* name) const;

 private:
  uint64_t position() const { return base_ + at_; }
  uint64_t read_number(const char* what);
  std::string_view take(uint64_t count, const char* what);
  uint64_t read_bits(uint64_t bytes);
  void expect(const Field& field, WireType type, const char* name) const;

  std::string_view message_;
  const std::string& file_;
  uint64_t base_;
  uint64_t at_ = 0;
};

}  // namespace rc::sentencepiece

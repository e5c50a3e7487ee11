// Texts made of parts: cat("tensor ", name, " has ", count, " rows").
//
// Errors are reported in a thousand places, and each of them would be a
// separate function if the text were made by templates. So a call only puts its
// parts into a list, and one function makes texts of lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace rc {

// The kind of a part of a text.
enum class PartKind : char {
  kEnd,  // of the list
  kCharacters,
  kString,
  kView,
  kCharacter,
  kInteger,
  kUnsigned,
  kNumber,
};

// One part; strings and views are where they were given.
union PartValue {
  PartValue(const char* value) : characters(value) {}
  PartValue(const std::string& value) : string(&value) {}
  PartValue(const std::string_view& value) : view(&value) {}
  PartValue(char value) : character(value) {}
  PartValue(double value) : number(value) {}
  template <class Integer>
  requires std::is_integral_v<Integer> || std::is_enum_v<Integer> PartValue(
      Integer value)
      : integer(static_cast<int64_t>(
            static_cast<std::common_type_t<Integer, int>>(value))) {}

  const char* characters;
  const std::string* string;
  const std::string_view* view;
  char character;
  int64_t integer;
  uint64_t unsigned_integer;
  double number;
};

template <class Part>
constexpr PartKind part_kind() {
  using Value = std::decay_t<const Part>;
  if constexpr (std::is_same_v<Value, char>) {
    return PartKind::kCharacter;
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return PartKind::kString;
  } else if constexpr (std::is_same_v<Value, std::string_view>) {
    return PartKind::kView;
  } else if constexpr (std::is_convertible_v<Value, const char*>) {
    return PartKind::kCharacters;
  } else if constexpr (std::is_floating_point_v<Value>) {
    static_assert(sizeof(Value) <= sizeof(double));
    return PartKind::kNumber;
  } else {
    // A byte might be meant as a character or as a number.
    static_assert(sizeof(Value) > 1 || std::is_same_v<Value, bool>);
    // Enumerations that are no numbers of themselves have no common type.
    using Integer = std::common_type_t<Value, int>;
    return std::is_signed_v<Integer> ? PartKind::kInteger : PartKind::kUnsigned;
  }
}

template <PartKind... kinds>
inline constexpr PartKind kPartKinds[] = {kinds..., PartKind::kEnd};

// The text of parts, of which there are as many as kinds.
std::string cat_parts(const PartKind* kinds, const PartValue* values);

// The parts, one after the other, as text: texts, characters, integers, and
// floating-point numbers with at most six digits, as printf has them with "%g".
// Numbers look the same whatever the program's locale is.
template <class... Parts>
[[gnu::always_inline]] inline std::string cat(const Parts&... parts) {
  const PartValue values[] = {PartValue(parts)...};
  return cat_parts(kPartKinds<part_kind<Parts>()...>, values);
}

}  // namespace rc

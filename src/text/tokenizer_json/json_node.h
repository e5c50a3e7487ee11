// A value of a tokenizer.json with the way to it, so that every error names the
// file, the JSON pointer and the value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_value.h"
#include "text/vocabulary.h"

namespace rc::text {

// Limits of what a tokenizer.json may hold: several times what published ones
// have.
inline constexpr size_t kMaxJsonBytes = size_t{1} << 28;
inline constexpr size_t kMaxJsonDepth = 32;
inline constexpr size_t kMaxComponents = 64;
inline constexpr size_t kMaxJsonTokens = size_t{1} << 22;
inline constexpr size_t kMaxJsonMerges = size_t{1} << 23;
inline constexpr size_t kMaxJsonText = 4096;      // bytes of a token
inline constexpr size_t kMaxPatternText = 16384;  // bytes of an expression

// Refers to the tree and to the name of the file; neither may go before it.
class JsonNode {
 public:
  JsonNode(const JsonValue& value, std::string_view source)
      : JsonNode(&value, source, std::string()) {}

  // All of these throw RC_E_FORMAT for a value of another type.
  std::string text(size_t limit = kMaxJsonText) const;
  bool boolean() const;
  double number() const;
  int64_t integer(int64_t low, int64_t high) const;
  TokenId id() const;
  std::vector<JsonNode> items(size_t limit) const;

  // A member that must be there.
  JsonNode at(std::string_view name) const;
  // A member that is there and is not null.
  std::optional<JsonNode> find(std::string_view name) const;
  // A value that is known to be the member or element of this name.
  JsonNode child(std::string_view name, const JsonValue& value) const {
    return JsonNode(&value, source_, pointer_to(pointer_, name));
  }
  bool flag(std::string_view name, bool otherwise) const;
  // The member "type" of a component.
  std::string type() const { return at("type").text(); }

  const JsonValue& value() const { return *value_; }
  std::string_view source() const { return source_; }
  // The file and the JSON pointer, to begin a message.
  std::string where() const;

  // Throw an error that begins with the place.
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(RC_E_FORMAT, where(), parts...);
  }
  template <class... Parts>
  [[noreturn]] void not_supported(const Parts&... parts) const {
    fail(RC_E_UNSUPPORTED, where(), parts...);
  }

 private:
  JsonNode(const JsonValue* value, std::string_view source, std::string pointer)
      : value_(value), source_(source), pointer_(std::move(pointer)) {}
  void expect(JsonValue::Type type, const char* wanted) const;

  const JsonValue* value_;
  std::string_view source_;
  std::string pointer_;
};

}  // namespace rc::text

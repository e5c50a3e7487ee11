#include "files/ggml/description.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/quote.h"

namespace rc::ggml {
namespace {

// As many tokens, and as many bytes of each, as can be read again.
constexpr int64_t kMaxTokens = int64_t{1} << 22;
constexpr size_t kMaxTokenBytes = 4096;

}  // namespace

void Description::set(int64_t id, std::string text, TokenType type) {
  if (id < 0 || id >= kMaxTokens || text.empty() ||
      text.size() > kMaxTokenBytes) {
    fail(RC_E_UNSUPPORTED, "token ", id, " is ", quote(text), "; ids are 0 to ",
         kMaxTokens - 1, " and texts have 1 to ", kMaxTokenBytes, " bytes");
  }
  fill(id + 1);
  tokens[static_cast<size_t>(id)] = std::move(text);
  types[static_cast<size_t>(id)] = type;
}

void Description::fill(int64_t count) {
  while (static_cast<int64_t>(tokens.size()) < std::min(count, kMaxTokens)) {
    tokens.push_back(cat("[PAD", tokens.size(), "]"));
    types.push_back(TokenType::kUnused);
  }
}

std::string_view text_in(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value != nullptr && value->is(JsonValue::Type::kString)
             ? std::string_view(value->text)
             : std::string_view();
}

bool flag_in(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value != nullptr && value->is(JsonValue::Type::kTrue);
}

bool is_absent(const JsonValue& object, std::string_view name) {
  return object.find_given(name) == nullptr;
}

std::optional<int64_t> number_of(const JsonValue* value) {
  if (value == nullptr || !value->is(JsonValue::Type::kNumber)) return {};
  int64_t number = -1;
  const char* last = value->text.data() + value->text.size();
  const auto [end, error] = std::from_chars(value->text.data(), last, number);
  if (error != std::errc() || end != last) return {};
  return number;
}

std::vector<const JsonValue*> elements_of(const JsonValue* value,
                                          std::string_view name) {
  if (value == nullptr) return {};
  if (text_in(*value, "type") != "Sequence") return {value};
  std::vector<const JsonValue*> elements;
  if (const JsonValue* list = value->find(name)) {
    for (const JsonValue& item : list->items) elements.push_back(&item);
  }
  return elements;
}

void set_vocabulary(const JsonValue& model, Description* description) {
  const JsonValue* vocabulary = model.find("vocab");
  if (vocabulary == nullptr) fail(RC_E_UNSUPPORTED, "it has no vocabulary");
  for (const auto& [text, id] : vocabulary->members) {
    description->set(number_of(&id).value_or(-1), text, TokenType::kNormal);
  }
}

void set_added_tokens(const JsonValue& tokenizer, Description* description) {
  const JsonValue* added = tokenizer.find_given("added_tokens");
  if (added == nullptr) return;
  for (const JsonValue& token : added->items) {
    description->set(number_of(token.find("id")).value_or(-1),
                     std::string(text_in(token, "content")),
                     flag_in(token, "special") ? TokenType::kControl
                                               : TokenType::kUserDefined);
  }
}

std::vector<std::pair<std::string, std::string>> merges_of(
    const JsonValue& model) {
  std::vector<std::pair<std::string, std::string>> merges;
  const JsonValue* list = model.find("merges");
  if (list == nullptr || list->items.empty()) {
    fail(RC_E_UNSUPPORTED, "it has no merges");
  }
  for (const JsonValue& item : list->items) {
    if (item.items.size() == 2) {
      merges.emplace_back(item.items[0].text, item.items[1].text);
    } else {
      const size_t space = std::min(item.text.find(' '), item.text.size());
      merges.emplace_back(
          item.text.substr(0, space),
          item.text.substr(std::min(space + 1, item.text.size())));
    }
    const auto& [left, right] = merges.back();
    if (left.empty() || right.empty() || left.find(' ') != left.npos ||
        right.find(' ') != right.npos) {
      fail(RC_E_UNSUPPORTED, "a merge is ", quote(left), " and ", quote(right));
    }
  }
  return merges;
}

}  // namespace rc::ggml

// Keys and values of arguments in formats with special marks for them.
#include <cctype>
#include <utility>

#include "base/cat.h"
#include "text/chat/calls/call_machine.h"

namespace rc::text::chat {
namespace {

bool is_bare_byte(uint8_t byte) {
  return byte < 0x80 &&
         (std::isalnum(byte) != 0 || byte == '+' || byte == '-' || byte == '.');
}

// The constants of Python, but for their first letters.
struct Word {
  char first;
  std::string_view rest;
  std::string_view json;
};
constexpr std::array<Word, 3> kWords = {
    {{'T', "rue", "true"}, {'F', "alse", "false"}, {'N', "one", "null"}}};

// The escapes that mean the same to Python and JSON, and what they stand for.
constexpr std::string_view kSharedEscapes = "nrt\\\"";
constexpr std::string_view kEscaped = "\n\r\t\\\"";

}  // namespace

bool CallMachine::is_key_byte(uint8_t byte) const {
  const bool word = byte >= 0x80 || (byte < 0x80 && std::isalnum(byte) != 0) ||
                    byte == '_' || byte == '-' || byte == '.';
  return word || (byte == ' ' && form_.shape == CallShape::kTags);
}

bool CallMachine::read_key(State* state, uint8_t byte) const {
  if (form_.shape == CallShape::kElements) {
    return read_element_name(state, byte);
  }
  if (static_cast<char>(byte) != literal(Literal::kKeyEnd)[0]) {
    // Readers leave out spaces around a name.
    if (!is_key_byte(byte) || (byte == ' ' && state->key.empty())) return false;
    state->key += static_cast<char>(byte);
    return json_->step(&state->json, byte);
  }
  if (state->key.empty() || state->key.back() == ' ') return false;
  if (!feed(state, "\": ")) return false;
  const bool is_text = form_.writes_text(state->name, state->key);
  return expect(state,
                1U << (is_text ? Literal::kStringKeyEnd : Literal::kKeyEnd), 1);
}

bool CallMachine::read_value(State* state, uint8_t byte) const {
  if (state->raw) return read_raw(state, byte);
  if (form_.shape == CallShape::kGemma) return read_gemma(state, byte);
  if (form_.shape == CallShape::kElements) {
    return read_element_value(state, byte);
  }
  uint16_t* matched = &state->watched[0];
  *matched = form_.value_mark.next(*matched, static_cast<char>(byte));
  if (form_.value_mark.found(*matched)) return false;
  if (value_is_over(*state, byte)) return end_value(state, byte);
  if (form_.shape == CallShape::kPython) return read_python(state, byte);
  return json_->step(&state->json, byte);
}

// Whether the value of an argument has ended before the byte.
bool CallMachine::value_is_over(const State& state, uint8_t byte) const {
  // Of elements, values within values have ends too.
  if (state.json.level->depth != kArgumentsDepth &&
      form_.shape != CallShape::kElements) {
    return false;
  }
  return state.json.phase == Json::Phase::kAfter ||
         (state.json.phase == Json::Phase::kBare && !is_bare_byte(byte));
}

bool CallMachine::end_value(State* state, uint8_t byte) const {
  if (state->json.phase == Json::Phase::kBare &&
      json_->lexer().accepted(state->json.lex).empty()) {
    return false;
  }
  state->watched = {};
  if (!literal(Literal::kValueEnd).empty()) {
    return expect(state, 1U << Literal::kValueEnd) && advance(state, byte);
  }
  state->fresh = false;
  return expect_argument(state) && advance(state, byte);
}

bool CallMachine::feed_content(State* state, char byte) const {
  switch (byte) {
    case '"':
      return feed(state, "\\\"");
    case '\\':
      return feed(state, "\\\\");
    case '\n':
      return feed(state, "\\n");
    case '\r':
      return feed(state, "\\r");
    case '\t':
      return feed(state, "\\t");
    default:
      break;
  }
  const auto value = static_cast<uint8_t>(byte);
  if (value >= 0x20) return json_->step(&state->json, value);
  constexpr std::string_view kDigits = "0123456789abcdef";
  const std::array<char, 6> escape = {
      '\\', 'u', '0', '0', kDigits[value >> 4], kDigits[value & 15]};
  return feed(state, {escape.data(), escape.size()});
}

// A string without quotes goes on up to its end, which its text may not have;
// what may be the beginning of the end is held back.
bool CallMachine::read_raw(State* state, uint8_t byte) const {
  const char c = static_cast<char>(byte);
  if (state->or_null) return read_raw_or_null(state, c);
  const bool element = form_.shape == CallShape::kElements;
  if (element && state->held.empty() && c != form_.string_end[0]) {
    return feed_content(state, c);
  }
  const std::string own = element ? element_end(*state) : std::string();
  const std::string& end = element ? own : form_.string_end;
  uint16_t* matched = &state->watched[0];
  *matched = element ? 0 : form_.value_mark.next(*matched, c);
  state->held += c;
  if (state->held == end) return end_raw(state, "\"");
  if (form_.value_mark.found(*matched)) return false;
  while (!end.starts_with(state->held)) {
    if (!feed_content(state, state->held[0])) return false;
    state->held.erase(0, 1);
  }
  if (state->held.empty()) return true;
  // Either the string may end here, or what is held may be a part of it.
  if (would_feed(*state, "\"")) return true;
  State tried = *state;
  for (const char held : state->held) {
    if (!feed_content(&tried, held)) return false;
  }
  return true;
}

// The end of a string, or of null, has been read; `json` ends its JSON.
bool CallMachine::end_raw(State* state, std::string_view json) const {
  state->held.clear();
  state->raw = false;
  state->or_null = false;
  state->watched = {};
  state->offset = 0;
  if (!feed(state, json)) return false;
  if (form_.shape == CallShape::kGemma) return true;
  if (form_.shape == CallShape::kElements) return expect_element(state);
  return expect(state, 1U << Literal::kValueEnd, form_.string_end.size());
}

// A string that readers take for null if it is that word: it is held back until
// it can't be.
bool CallMachine::read_raw_or_null(State* state, char byte) const {
  state->held += byte;
  const std::string null = cat(
      form_.null_text, form_.shape == CallShape::kElements ? element_end(*state)
                                                           : form_.string_end);
  if (state->held == null) return end_raw(state, "null");
  if (null.starts_with(state->held)) return true;
  state->or_null = false;
  if (!feed(state, "\"")) return false;
  for (const char held : std::exchange(state->held, std::string())) {
    if (!read_raw(state, static_cast<uint8_t>(held))) return false;
  }
  return true;
}

// Whether a character may come that has an escape of the same meaning in Python
// and JSON.
bool CallMachine::may_escape(const Json::State& json) const {
  for (const char c : kEscaped) {
    if (json_->lexer().step(json.lex, static_cast<unsigned char>(c)) !=
        grammar::kDeadLex) {
      return true;
    }
  }
  return false;
}

bool CallMachine::read_python(State* state, uint8_t byte) const {
  const Json::State& json = state->json;
  if (json.phase == Json::Phase::kString || json.phase == Json::Phase::kKey) {
    if (json.partial.kind == grammar::PartialChar::Kind::kEscape &&
        kSharedEscapes.find(static_cast<char>(byte)) ==
            std::string_view::npos) {
      return false;
    }
    if (byte == '\\' && json.partial.none() && !may_escape(json)) return false;
    return json_->step(&state->json, byte);
  }
  if (json.phase == Json::Phase::kValue ||
      json.phase == Json::Phase::kFirstItem) {
    for (size_t i = 0; i < kWords.size(); ++i) {
      if (kWords[i].first != static_cast<char>(byte)) continue;
      state->stage = Stage::kWord;
      state->options = static_cast<uint16_t>(i);
      state->offset = 0;
      return feed(state, kWords[i].json);
    }
  }
  return json_->step(&state->json, byte);
}

bool CallMachine::read_word(State* state, uint8_t byte) const {
  const std::string_view rest = kWords[state->options].rest;
  if (static_cast<uint8_t>(rest[state->offset]) != byte) return false;
  if (++state->offset == rest.size()) {
    state->stage = Stage::kValue;
    state->options = 0;
    state->offset = 0;
  }
  return true;
}

// Whether a value may have ended that is not an argument by itself.
bool CallMachine::is_between(const State& state) {
  return state.json.phase == Json::Phase::kAfter ||
         state.json.phase == Json::Phase::kBare;
}

// JSON without spaces, but that names of members have no quotes and strings
// others.
bool CallMachine::read_gemma(State* state, uint8_t byte) const {
  if (state->offset > 0) return read_gemma_quote(state, byte);
  if (value_is_over(*state, byte)) return end_value(state, byte);
  if (byte == ',' && is_between(*state)) return feed(state, ", ");
  switch (state->json.phase) {
    case Json::Phase::kKey:
      if (byte == ':') return feed(state, "\": ");
      return is_key_byte(byte) && json_->step(&state->json, byte);
    case Json::Phase::kFirstKey:
    case Json::Phase::kNextKey:
      if (is_key_byte(byte)) {
        return feed(state, "\"") && json_->step(&state->json, byte);
      }
      break;
    case Json::Phase::kValue:
    case Json::Phase::kFirstItem:
      if (static_cast<char>(byte) == form_.string_end[0]) {
        return would_feed(*state, "\"") && read_gemma_quote(state, byte);
      }
      break;
    default:
      break;
  }
  return byte != '"' && json_->step(&state->json, byte);
}

bool CallMachine::read_gemma_quote(State* state, uint8_t byte) const {
  const std::string& quote = form_.string_end;
  if (static_cast<uint8_t>(quote[state->offset]) != byte) return false;
  if (++state->offset < quote.size()) return true;
  state->offset = 0;
  state->raw = true;
  state->held.clear();
  state->watched = {};
  return feed(state, "\"");
}

}  // namespace rc::text::chat

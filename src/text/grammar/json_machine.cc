#include "text/grammar/json_machine.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "text/grammar/item_values.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {
namespace {

bool is_space(uint8_t byte) {
  return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

}  // namespace

JsonMachine::JsonMachine(std::shared_ptr<JsonModel> model)
    : model_(std::move(model)) {
  const JsonModel::Start& start = model_->start(model_->root());
  auto level = std::make_shared<Level>();
  level->items = {{.value = model_->root()}};
  level->strings = start.string_lex;
  level->bare = start.bare_lex;
  begin_.level = std::move(level);
}

bool JsonMachine::can_end(const State& state) const {
  if (state.phase == Phase::kDone) return true;
  return state.phase == Phase::kBare && state.level->parent == nullptr &&
         !model_->lexer().accepted(state.lex).empty();
}

JsonMachine::Reading JsonMachine::reading(const State& state) const {
  if (!state.partial.none() || state.phase == Phase::kBare) {
    return Reading::kOther;
  }
  if (state.phase == Phase::kString || state.phase == Phase::kKey) {
    return Reading::kContent;
  }
  return model_->options().one_space ? Reading::kOther : Reading::kSpaces;
}

bool JsonMachine::refuses(const State& state, LexState lex,
                          uint8_t byte) const {
  const Level& level = *state.level;
  const auto no_value = [&] {
    if (byte == '"') return level.strings == kDeadLex;
    return byte != '{' && byte != '[' &&
           (level.bare == kDeadLex || byte >= 128 ||
            lexer().step(level.bare, byte) == kDeadLex);
  };
  switch (state.phase) {
    case Phase::kString:
    case Phase::kKey:
      if (!state.partial.none()) return false;
      if (byte == '"') return lexer().accepted(lex).empty();
      return byte < 0x20 || (byte >= 128 && !lexer().goes_beyond_ascii(lex));
    case Phase::kBare:
      if (byte < 128 && lexer().step(state.lex, byte) != kDeadLex) return false;
      return (byte != ',' && byte != ']' && byte != '}' && !is_space(byte)) ||
             lexer().accepted(state.lex).empty();
    default:
      break;
  }
  if (is_space(byte)) return false;
  switch (state.phase) {
    case Phase::kValue:
      return no_value();
    case Phase::kFirstItem:
      // The beginning of items is checked when one begins.
      return byte >= 128 || byte == ',' || byte == '}' || byte == ':';
    case Phase::kFirstKey:
      return byte != '"' && byte != '}';
    case Phase::kNextKey:
      return byte != '"';
    case Phase::kColon:
      return byte != ':';
    case Phase::kAfter:
      return byte != ',' && byte != (level.array ? ']' : '}');
    default:
      return true;
  }
}

void JsonMachine::catch_up(State* state, LexState lex, uint32_t spaces,
                           std::string_view bytes) const {
  state->lex = lex;
  state->spaces = spaces;
  if (text_matters(*state)) state->text.append(bytes);
}

bool JsonMachine::keys_alike(const State& state,
                             std::vector<std::string>* names) const {
  const auto add = [&](const std::string& name) {
    if (name.starts_with(state.text)) names->push_back(name);
  };
  for (const Item& item : state.level->items) {
    const JsonModel::Object& object = model_->object(item.rules);
    if (!object.uniform) return false;
    for (const std::string& name : object.literals) add(name);
    for (const std::string& name : object.rules->required) add(name);
  }
  for (const Seen* seen = state.level->seen.get(); seen != nullptr;
       seen = seen->before.get()) {
    add(seen->name);
  }
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
  return true;
}

JsonMachine::State JsonMachine::with_key(const State& state,
                                         std::string key) const {
  State result = state;
  result.text = std::move(key);
  return result;
}

// Whether what is next comes after a comma or a colon.
bool JsonMachine::needs_space(const State& state) {
  return state.phase == Phase::kNextKey ||
         (state.phase == Phase::kValue && state.level->parent != nullptr);
}

bool JsonMachine::step(State* state, uint8_t byte) {
  switch (state->phase) {
    case Phase::kString:
      if (byte != '"' || !state->partial.none()) {
        return step_content(state, byte);
      }
      return finish_value(
          state, model_->lexer().accepted(state->lex),
          state->level->keeps_values ? string_value(state->text) : "");
    case Phase::kKey:
      if (byte != '"' || !state->partial.none()) {
        return step_content(state, byte);
      }
      return end_key(state);
    case Phase::kBare: {
      if (byte < 128) {
        const LexState next = model_->lexer().step(state->lex, byte);
        if (next != kDeadLex) {
          state->lex = next;
          if (text_matters(*state)) state->text += static_cast<char>(byte);
          return true;
        }
      }
      return finish_value(
                 state, model_->lexer().accepted(state->lex),
                 state->level->keeps_values ? bare_value(state->text) : "") &&
             step(state, byte);
    }
    default:
      break;
  }
  const JsonOptions& options = model_->options();
  if (options.one_space && state->spaces == 0 && needs_space(*state)) {
    state->spaces = 1;
    return byte == ' ';
  }
  if (is_space(byte)) {
    return !options.one_space && ++state->spaces <= options.max_spaces;
  }
  state->spaces = 0;
  switch (state->phase) {
    case Phase::kFirstItem:
      if (byte == ']') return close(state);
      return begin_item(state) && step_value(state, byte);
    case Phase::kValue:
      return step_value(state, byte);
    case Phase::kFirstKey:
      if (byte == '}') return close(state);
      [[fallthrough]];
    case Phase::kNextKey:
      if (byte != '"' || state->level->strings == kDeadLex) return false;
      state->phase = Phase::kKey;
      state->lex = state->level->strings;
      state->text.clear();
      return true;
    case Phase::kColon:
      state->phase = Phase::kValue;
      return byte == ':';
    case Phase::kAfter:
      return step_after(state, byte);
    default:
      return false;
  }
}

bool JsonMachine::step_value(State* state, uint8_t byte) {
  if (byte == '{') return open_object(state);
  if (byte == '[') return open_array(state);
  state->text.clear();
  if (byte == '"') {
    state->lex = state->level->strings;
    state->phase = Phase::kString;
    return state->lex != kDeadLex;
  }
  if (byte >= 128 || state->level->bare == kDeadLex) return false;
  state->lex = model_->lexer().step(state->level->bare, byte);
  state->phase = Phase::kBare;
  if (text_matters(*state)) state->text += static_cast<char>(byte);
  return state->lex != kDeadLex;
}

bool JsonMachine::step_content(State* state, uint8_t byte) {
  char32_t c = 0;
  switch (decode_string_byte(byte, &state->partial, &c)) {
    case Decoded::kInvalid:
      return false;
    case Decoded::kPartial:
      return can_complete(&model_->lexer(), state->lex, state->partial);
    case Decoded::kChar:
      break;
  }
  state->lex = model_->lexer().step(state->lex, c);
  if (state->lex == kDeadLex) return false;
  if (text_matters(*state)) append_utf8(c, &state->text);
  return true;
}

// Finds out how keys may begin; false if there are none left. Where not all
// names are allowed, those that are there already are left out, so that nothing
// leads to where only they are left.
bool JsonMachine::set_keys(Level* level) {
  Work::walk(level->items.size());
  std::vector<std::string> seen;
  for (const Seen* at = level->seen.get(); at != nullptr;
       at = at->before.get()) {
    seen.push_back(at->name);
  }
  std::vector<TaggedExpr> parts;
  for (size_t i = 0; i < level->items.size(); ++i) {
    const Item& item = level->items[i];
    const JsonModel::Object& object = model_->object(item.rules);
    if (level->count >= object.rules->max) continue;
    ExprId names = object.names;
    if (item.missing > 0 && !object.rules->order.empty()) {
      names = model_->next_name(item.rules, seen);
    } else if (object.rules->max - level->count == item.missing) {
      // There is only room for what is required.
      names = model_->required_names(item.rules, seen);
    } else if (!object.rules->some.empty() && item.missing == 0 &&
               object.rules->max - level->count == 1) {
      names = model_->last_names(item.rules, item.done, seen);
    } else if (names != ExprPool::kAny && !seen.empty()) {
      names = model_->names_left(item.rules, seen);
    } else if (level->items.size() == 1) {
      level->strings = object.names_lex;
      return level->strings != kDeadLex;
    }
    parts.emplace_back(names, static_cast<uint32_t>(i));
  }
  level->strings = model_->lexer().start(std::move(parts));
  return level->strings != kDeadLex;
}

// Finds out how the next value may begin.
void JsonMachine::set_values(Level* level) {
  const bool differs = level->array && level->keeps_values;
  if (level->items.size() == 1 && !differs) {
    const JsonModel::Start& start = model_->start(level->items[0].value);
    level->strings = start.string_lex;
    level->bare = start.bare_lex;
    return;
  }
  Work::walk(level->items.size());
  std::vector<std::string> seen;
  for (const Seen* at = differs ? level->seen.get() : nullptr; at != nullptr;
       at = at->before.get()) {
    seen.push_back(at->value);
  }
  std::vector<TaggedExpr> strings;
  std::vector<TaggedExpr> bare;
  for (size_t i = 0; i < level->items.size(); ++i) {
    const Item& item = level->items[i];
    const JsonModel::Start& start = model_->start(item.value);
    JsonModel::Left left = {start.string, start.bare};
    if (!seen.empty() && model_->array(item.rules).unique) {
      left = model_->values_left(item.value, seen);
    }
    strings.emplace_back(left.string, static_cast<uint32_t>(i));
    bare.emplace_back(left.bare, static_cast<uint32_t>(i));
  }
  level->strings = model_->lexer().start(std::move(strings));
  level->bare = model_->lexer().start(std::move(bare));
}

std::vector<uint32_t> JsonMachine::without_repeated(
    const Level& level, std::string_view value, std::vector<uint32_t> items) {
  Work::walk(1 + level.count / kItemsPerStep);
  for (const Seen* seen = level.seen.get(); seen != nullptr;
       seen = seen->before.get()) {
    if (seen->value != value) continue;
    std::erase_if(items, [&](uint32_t i) {
      return model_->array(level.items[i].rules).unique;
    });
    break;
  }
  return items;
}

bool JsonMachine::finish_value(State* state,
                               const std::vector<uint32_t>& accepted,
                               std::string value) {
  const Level& level = *state->level;
  std::vector<uint32_t> differing;
  const bool differs = level.keeps_values && level.array;
  if (differs) differing = without_repeated(level, value, accepted);
  const std::vector<uint32_t>& items = differs ? differing : accepted;
  if (items.empty()) return false;
  state->phase = level.parent == nullptr ? Phase::kDone : Phase::kAfter;
  state->lex = kDeadLex;
  state->text.clear();
  if (level.items.size() == 1 && !level.keeps_values) return true;
  Work::walk(items.size() * (1 + items.size() / kItemsPerStep));
  auto next = std::make_shared<Level>(level);
  next->items.clear();
  for (const uint32_t i : items) {
    Item item = level.items[i];
    item.value = kFalseSchema;
    if (std::find(next->items.begin(), next->items.end(), item) ==
        next->items.end()) {
      next->items.push_back(item);
    }
  }
  if (level.keeps_values) {
    next->seen =
        level.array
            ? std::make_shared<Seen>(Seen{level.seen, "", std::move(value)})
            : std::make_shared<Seen>(
                  Seen{level.seen->before, level.seen->name, std::move(value)});
  }
  state->level = std::move(next);
  return true;
}

bool JsonMachine::step_after(State* state, uint8_t byte) {
  if (byte == (state->level->array ? ']' : '}')) return close(state);
  if (byte != ',') return false;
  if (state->level->array) {
    if (!begin_item(state)) return false;
    state->phase = Phase::kValue;
    return true;
  }
  auto next = std::make_shared<Level>(*state->level);
  next->strings = next->bare = kDeadLex;
  if (!set_keys(next.get())) return false;
  state->level = std::move(next);
  state->phase = Phase::kNextKey;
  return true;
}

}  // namespace rc::text::grammar

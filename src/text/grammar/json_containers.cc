// Objects and arrays of a JsonMachine: how they begin, go on and end.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "text/grammar/item_values.h"
#include "text/grammar/json_machine.h"
#include "text/grammar/work.h"

namespace rc::text::grammar {
namespace {

constexpr size_t kMaxSomeRules = 32;
constexpr size_t kMaxItemCounts = 4;
constexpr uint32_t kMaxItemCount = UINT16_MAX - 1;

void add_once(const JsonMachine::Item& item,
              std::vector<JsonMachine::Item>* items) {
  Work::walk(1 + items->size() / JsonMachine::kItemsPerStep);
  if (std::find(items->begin(), items->end(), item) == items->end()) {
    items->push_back(item);
  }
}

// The value that is kept of an object or array at its end.
std::string value_of(const JsonMachine::Level& level) {
  Work::walk(1 + level.count / JsonMachine::kItemsPerStep);
  std::vector<std::string_view> items;
  std::vector<std::pair<std::string_view, std::string_view>> members;
  for (const auto* seen = level.seen.get(); seen != nullptr;
       seen = seen->before.get()) {
    if (level.array) {
      items.emplace_back(seen->value);
    } else {
      members.emplace_back(seen->name, seen->value);
    }
  }
  std::reverse(items.begin(), items.end());
  return level.array ? array_value(items) : object_value(std::move(members));
}

}  // namespace

bool JsonMachine::open_object(State* state) {
  const Level& outer = *state->level;
  if (outer.depth >= model_->options().max_depth) return false;
  auto level = std::make_shared<Level>();
  for (uint32_t i = 0; i < outer.items.size(); ++i) {
    for (const RulesId rules : model_->start(outer.items[i].value).objects) {
      const ObjectRules& object = *model_->object(rules).rules;
      if (object.some.size() > kMaxSomeRules) {
        fail(RC_E_UNSUPPORTED, "schema: more than ", kMaxSomeRules,
             " negated rules about one object are not supported");
      }
      Work::walk(1);
      level->items.push_back(
          {.parent = i,
           .rules = rules,
           .missing = static_cast<uint32_t>(object.required.size())});
    }
  }
  if (level->items.empty()) return false;
  level->depth = outer.depth + 1;
  level->keeps_values = outer.keeps_values;
  set_keys(level.get());
  level->parent = std::move(state->level);
  state->level = std::move(level);
  state->phase = Phase::kFirstKey;
  return true;
}

bool JsonMachine::open_array(State* state) {
  const Level& outer = *state->level;
  if (outer.depth >= model_->options().max_depth) return false;
  auto level = std::make_shared<Level>();
  for (uint32_t i = 0; i < outer.items.size(); ++i) {
    for (const RulesId rules : model_->start(outer.items[i].value).arrays) {
      const ArrayRules& array = model_->array(rules);
      for (const ItemCount& count : array.counts) {
        if (array.counts.size() > kMaxItemCounts || count.min > kMaxItemCount ||
            (count.max > kMaxItemCount && count.max != kUnbounded)) {
          fail(RC_E_UNSUPPORTED, "schema: more than ", kMaxItemCounts,
               " rules that count the items of one array, or counts above ",
               kMaxItemCount, ", are not supported");
        }
      }
      Work::walk(1);
      level->items.push_back({.parent = i, .rules = rules});
    }
  }
  if (level->items.empty()) return false;
  level->array = true;
  level->depth = outer.depth + 1;
  level->keeps_values = outer.keeps_values ||
                        std::any_of(level->items.begin(), level->items.end(),
                                    [&](const Item& item) {
                                      return model_->array(item.rules).unique;
                                    });
  level->parent = std::move(state->level);
  state->level = std::move(level);
  state->phase = Phase::kFirstItem;
  return true;
}

bool JsonMachine::can_close_array(const Item& item, uint32_t count) {
  const ArrayRules& rules = model_->array(item.rules);
  if (count < rules.min || count > rules.max) return false;
  for (size_t i = 0; i < rules.counts.size(); ++i) {
    if (item.counts[i] < rules.counts[i].min) return false;
  }
  return true;
}

bool JsonMachine::close(State* state) {
  const Level& level = *state->level;
  std::vector<uint32_t> parents;
  Work::walk(level.items.size());
  for (const Item& item : level.items) {
    bool complete = false;
    if (level.array) {
      complete = can_close_array(item, level.count);
    } else {
      const ObjectRules& rules = *model_->object(item.rules).rules;
      const uint64_t all = (uint64_t{1} << rules.some.size()) - 1;
      complete = item.missing == 0 && item.done == all &&
                 level.count >= rules.min && level.count <= rules.max;
    }
    if (complete && std::find(parents.begin(), parents.end(), item.parent) ==
                        parents.end()) {
      parents.push_back(item.parent);
    }
  }
  std::string value =
      level.parent->keeps_values ? value_of(level) : std::string();
  state->level = level.parent;
  return finish_value(state, parents, std::move(value));
}

bool JsonMachine::end_key(State* state) {
  const Level& level = *state->level;
  Work::walk(1 + level.count / kItemsPerStep);
  for (const Seen* seen = level.seen.get(); seen != nullptr;
       seen = seen->before.get()) {
    if (seen->name == state->text) return false;
  }
  auto next = std::make_shared<Level>();
  next->parent = level.parent;
  next->depth = level.depth;
  next->count = level.count + 1;
  for (const uint32_t i : model_->lexer().accepted(state->lex)) {
    Item item = level.items[i];
    const ObjectRules& rules = *model_->object(item.rules).rules;
    const SchemaId value = model_->property(item.rules, state->text);
    if (value == kFalseSchema) continue;
    item.value = value;
    if (std::binary_search(rules.required.begin(), rules.required.end(),
                           state->text)) {
      --item.missing;
    }
    // A property may be the one that a rule asks for, or need not be.
    std::vector<Item> ways = {item};
    for (size_t rule = 0; rule < rules.some.size(); ++rule) {
      const uint32_t bit = 1U << rule;
      if ((item.done & bit) != 0 ||
          !model_->concerns(item.rules, rule, state->text)) {
        continue;
      }
      for (size_t way = ways.size(); way-- > 0;) {
        Item found = ways[way];
        found.done |= bit;
        found.value = model_->all_of(found.value, rules.some[rule].schema);
        if (model_->possible(found.value)) ways.push_back(found);
      }
    }
    const uint64_t all = (uint64_t{1} << rules.some.size()) - 1;
    for (const Item& way : ways) {
      // After the last property nothing can be made up for.
      if (next->count < rules.max || way.done == all) {
        add_once(way, &next->items);
      }
    }
  }
  if (next->items.empty()) return false;
  next->keeps_values = level.keeps_values;
  next->seen = std::make_shared<Seen>(Seen{level.seen, state->text, ""});
  set_values(next.get());
  state->level = std::move(next);
  state->phase = Phase::kColon;
  state->lex = kDeadLex;
  state->text.clear();
  return true;
}

// The ways in which the item at the index may count.
void JsonMachine::add_items(const Item& item, uint32_t index,
                            std::vector<Item>* to) {
  const ArrayRules& rules = model_->array(item.rules);
  if (index >= rules.max) return;
  Item first = item;
  first.value = model_->item(item.rules, index);
  std::vector<Item> ways = {first};
  for (size_t i = 0; i < rules.counts.size(); ++i) {
    const ItemCount& count = rules.counts[i];
    if (index < count.from || index > count.to) continue;
    const bool bounded = count.max != kUnbounded;
    // Once there are enough, and more do no harm, nothing is counted.
    if (!bounded && item.counts[i] >= count.min) continue;
    const uint64_t last = std::min<uint64_t>(count.to, rules.max - 1);
    const bool others_left = last - index + item.counts[i] >= count.min;
    std::vector<Item> next;
    for (const Item& way : ways) {
      if (item.counts[i] < count.max) {
        Item counted = way;
        ++counted.counts[i];
        counted.value = model_->all_of(way.value, count.schema);
        next.push_back(counted);
      }
      if (others_left) {
        Item other = way;
        if (bounded) other.value = model_->without(way.value, count.schema);
        next.push_back(other);
      }
    }
    ways = std::move(next);
  }
  for (const Item& way : ways) {
    if (model_->possible(way.value)) add_once(way, to);
  }
}

bool JsonMachine::begin_item(State* state) {
  const Level& level = *state->level;
  auto next = std::make_shared<Level>();
  for (const Item& item : level.items) {
    add_items(item, level.count, &next->items);
  }
  if (next->items.empty()) return false;
  next->parent = level.parent;
  next->array = true;
  next->depth = level.depth;
  next->count = level.count + 1;
  next->keeps_values = level.keeps_values;
  next->seen = level.seen;
  set_values(next.get());
  // All values that there are may be taken.
  if (next->strings == kDeadLex && next->bare == kDeadLex &&
      std::none_of(next->items.begin(), next->items.end(),
                   [&](const Item& item) {
                     const JsonModel::Start& start = model_->start(item.value);
                     return !start.objects.empty() || !start.arrays.empty();
                   })) {
    return false;
  }
  state->level = std::move(next);
  return true;
}

}  // namespace rc::text::grammar

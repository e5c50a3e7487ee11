#include "files/folder/rules.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "files/gguf/file.h"

namespace rc::folder {
namespace {

struct Match {
  std::vector<uint64_t> numbers;
  std::string_view ending;  // what '@' stands for
};

std::optional<Match> match(std::string_view pattern, std::string_view name) {
  Match result;
  while (!pattern.empty()) {
    const char wanted = pattern.front();
    pattern.remove_prefix(1);
    if (wanted == '%') return result;
    if (wanted == '@') {
      if (name != "weight" && name != "bias") return std::nullopt;
      result.ending = name;
      return result;
    }
    if (wanted == '*') {
      uint32_t number = 0;
      const auto [end, error] =
          std::from_chars(name.data(), name.data() + name.size(), number);
      const auto digits = static_cast<size_t>(end - name.data());
      // Two names must not be one number.
      if (error != std::errc() || (name[0] == '0' && digits > 1)) {
        return std::nullopt;
      }
      result.numbers.push_back(number);
      name.remove_prefix(digits);
    } else {
      if (name.empty() || name.front() != wanted) return std::nullopt;
      name.remove_prefix(1);
    }
  }
  if (!name.empty()) return std::nullopt;
  return result;
}

std::string name_of(std::string_view pattern, const Match& match) {
  std::string name;
  for (const char c : pattern) {
    if (c == '*') {
      name += std::to_string(match.numbers[0]);
    } else if (c == '@') {
      name += match.ending;
    } else {
      name += c;
    }
  }
  return name;
}

// The views that rules make, by name.
class Collector {
 public:
  void add(TensorView view, const safetensors::Place& source) {
    const std::string name = view.name;
    if (!views_.emplace(name, Collected{std::move(view), {}}).second) {
      refuse_twice(source.file->name(), name);
    }
  }

  // One that counts if no other becomes the same.
  void add_spare(TensorView view) { spares_.push_back(std::move(view)); }

  // One of the tensors that are stacked.
  void stack(TensorView part, uint64_t expert,
             const safetensors::Place& source) {
    if (part.shape.size() >= gguf::kMaxRank) {
      refuse_shape(source, "that of an expert");
    }
    part.shape.insert(part.shape.begin(), 1);
    const auto place = views_.try_emplace(part.name, Collected{part, {}}).first;
    Collected& stack = place->second;
    if (part.shape != stack.view.shape ||
        part.folder_dtype != stack.view.folder_dtype) {
      refuse_shape(source, "shape and type of those of the other experts");
    }
    stack.parts.push_back({expert, part.slabs[0]});
  }

  // In the order of layers, those of none before them.
  std::vector<TensorView> take(const std::string& file) {
    for (TensorView& spare : spares_) {
      const std::string name = spare.name;
      views_.try_emplace(name, Collected{std::move(spare), {}});
    }
    std::vector<std::pair<uint64_t, TensorView*>> order;
    for (auto& [name, collected] : views_) {
      if (!collected.parts.empty()) join(collected, file);
      const auto layer = match("blk.*.%", name);
      order.emplace_back(layer ? layer->numbers[0] + 1 : 0, &collected.view);
    }
    std::stable_sort(
        order.begin(), order.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<TensorView> result;
    result.reserve(order.size());
    for (const auto& [layer, view] : order) result.push_back(std::move(*view));
    return result;
  }

 private:
  struct Part {
    uint64_t expert;
    Slab slab;
  };
  struct Collected {
    TensorView view;
    std::vector<Part> parts;  // of a stack
  };

  static void join(Collected& stack, const std::string& file) {
    std::vector<Part>& parts = stack.parts;
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.expert < b.expert; });
    stack.view.slabs.clear();
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].expert < i) refuse_twice(file, stack.view.name);
      if (parts[i].expert > i) {
        fail(RC_E_FORMAT, file, ": expert ", i, " is missing for ",
             stack.view.name);
      }
      stack.view.slabs.push_back(parts[i].slab);
    }
    stack.view.shape[0] = static_cast<int64_t>(parts.size());
  }

  [[noreturn]] static void refuse_twice(const std::string& file,
                                        const std::string& name) {
    fail(RC_E_FORMAT, file, ": two tensors are ", name);
  }

  std::map<std::string, Collected> views_;
  std::vector<TensorView> spares_;
};

std::string renamed(std::string_view name, std::span<const Rename> renames) {
  for (const Rename& rename : renames) {
    if (name.starts_with(rename.from)) {
      return std::string(rename.to) +
             std::string(name.substr(rename.from.size()));
    }
  }
  return std::string(name);
}

// Whether it is of one of the layers behind the last one that guess a token
// after the next one.
bool guesses(const Config& config, std::string_view name) {
  const int64_t count = config.find_int("num_nextn_predict_layers").value_or(0);
  if (count < 1) return false;
  const auto matched = match("model.layers.*.%", name);
  if (!matched) return false;
  const int64_t behind = static_cast<int64_t>(matched->numbers[0]) -
                         config.get_int("num_hidden_layers");
  return behind >= 0 && behind < count;
}

// Whether there is a rule for the tensor; what it makes goes to the collector.
bool apply(const Config& config, const safetensors::Place& source,
           const std::string& name, std::span<const Rules> rules,
           Collector& collector) {
  bool known = false;
  for (const Rules& list : rules) {
    for (const Rule& rule : list) {
      const std::optional<Match> matched = match(rule.from, name);
      if (!matched || (rule.applies && !rule.applies(config))) continue;
      known = true;
      if (rule.to.empty()) continue;
      TensorView view = rule.form(config, source);
      view.name = name_of(rule.to, *matched);
      const auto numbers =
          static_cast<size_t>(std::ranges::count(rule.to, '*'));
      if (rule.spare) {
        collector.add_spare(std::move(view));
      } else if (matched->numbers.size() > numbers) {
        collector.stack(std::move(view), matched->numbers.back(), source);
      } else {
        collector.add(std::move(view), source);
      }
    }
  }
  return known;
}

}  // namespace

std::vector<TensorView> apply_rules(const Config& config,
                                    const safetensors::Shards& shards,
                                    std::span<const Rename> renames,
                                    std::span<const Rules> rules) {
  Collector collector;
  for (const safetensors::Place& source : shards.places()) {
    const std::string name = renamed(source.tensor->name, renames);
    if (guesses(config, name)) continue;
    // A model without the matrix of its logits is often saved by itself.
    if (!apply(config, source, name, rules, collector) &&
        !apply(config, source, "model." + name, rules, collector)) {
      fail(RC_E_UNSUPPORTED, source.file->name(), ": tensor ",
           quote(source.tensor->name),
           " is part of the model, but models of type ",
           config.get_text("model_type"), " are computed without it");
    }
  }
  return collector.take(config.file());
}

}  // namespace rc::folder

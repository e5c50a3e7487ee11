#include "cpu/chain.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cpu/compiler.h"
#include "cpu/flow.h"

namespace rc::cpu {

namespace {

int64_t elements_of(const rc_plugin_value& value) {
  int64_t count = 1;
  for (int i = 0; i < value.rank; ++i) count *= value.shape[i];
  return count;
}

}  // namespace

namespace {

// A group has so many links at most.
constexpr size_t kMostTogether = 32;

// The op with operand `at_hand` at hand, if it can be done with others.
std::optional<ElementOp::What> what_of(const Elements& elements, int at_hand) {
  const bool first = at_hand == 0;
  if (elements.lines() != 1 || elements.step(at_hand) != 1) return {};
  if (elements.code() == RC_OP_UNARY) {
    switch (elements.function()) {
      case RC_FUNCTION_RELU:
        return ElementOp::kRelu;
      case RC_UNARY_NEG:
        return ElementOp::kNegate;
      default:
        return {};
    }
  }
  if (elements.code() != RC_OP_BINARY) return {};
  switch (elements.function()) {
    case RC_BINARY_ADD:
      return ElementOp::kAdd;
    case RC_BINARY_MUL:
      return ElementOp::kMultiply;
    case RC_BINARY_SUB:
      return first ? ElementOp::kSubtract : ElementOp::kSubtractFrom;
    case RC_BINARY_DIV:
      return first ? ElementOp::kDivide : ElementOp::kDivideInto;
    default:
      return {};
  }
}

}  // namespace

// Finds out which ops go together, and what of them stays. Ops are numbered as
// in the program.
class Chain::Links {
 public:
  Links(Compiler& c, size_t first)
      : c_(c),
        flow_(c.flow()),
        first_(first),
        elements_(elements_of(result(first))) {}

  // The end of the ops that can be done block by block.
  size_t find_end() const {
    size_t end = first_ + 1;
    while (end < c_.ops().size() && joins(end)) ++end;
    return without_hazards(end);
  }
  // Of so many of them at most, those without hazards.
  size_t without_hazards(size_t end) const {
    for (size_t safe = hazard(end); safe < end; safe = hazard(end)) end = safe;
    return end;
  }
  // Whether what an op of the chain makes is read by others than it.
  bool is_kept(size_t op, size_t end) const {
    return result(op).storage != RC_STORAGE_SCRATCH ||
           flow_.last_reader(op) >= end;
  }
  bool is_last_reader(size_t op, size_t reader) const {
    return flow_.last_reader(op) == reader;
  }
  // The op of the chain that makes an operand; Flow::kNobody: none.
  size_t maker(size_t op, int operand) const {
    const size_t found = flow_.source(op, operand).op;
    return found != Flow::kNobody && found >= first_ ? found : Flow::kNobody;
  }

 private:
  const rc_plugin_value& result(size_t op) const {
    return c_.value(c_.ops()[op].outputs[0]);
  }
  bool joins(size_t i) const;
  size_t hazard(size_t end) const;

  Compiler& c_;
  const Flow& flow_;
  const size_t first_;
  const int64_t elements_;
};

bool Chain::Links::joins(size_t i) const {
  const Op& op = c_.ops()[i];
  if (!Elements::has(op.code) || !c_.of_tensors(op) ||
      result(i).dtype != RC_DTYPE_F32 || elements_of(result(i)) != elements_) {
    return false;
  }
  // Of what the chain has made, only the same block can be read.
  for (int k = 0; k < Elements::kMost; ++k) {
    if (op.inputs[k] < 0 || maker(i, k) == Flow::kNobody) continue;
    if (!flow_.source(i, k).whole) return false;
  }
  return true;
}

// Blocks are done in any order, so what is written to memory must not lie where
// other blocks still read, or write something else. Gives the first op that
// does that, or `end`.
size_t Chain::Links::hazard(size_t end) const {
  std::vector<Area> scratch;  // read, or written to stay
  std::set<std::pair<int32_t, int32_t>> others;
  for (size_t i = first_; i < end; ++i) {
    const Op& op = c_.ops()[i];
    const auto note = [&](int32_t number) {
      const rc_plugin_value& value = c_.value(number);
      if (value.storage == RC_STORAGE_SCRATCH) {
        scratch.push_back(c_.area(number));
      } else {
        others.emplace(value.storage, value.index);
      }
    };
    for (int k = 0; k < Elements::kMost; ++k) {
      if (op.inputs[k] >= 0 && maker(i, k) == Flow::kNobody) note(op.inputs[k]);
    }
    if (!is_kept(i, end)) continue;
    const int32_t made = op.outputs[0];
    const Area area = c_.area(made);
    const bool meets =
        result(i).storage == RC_STORAGE_SCRATCH
            ? std::any_of(
                  scratch.begin(), scratch.end(),
                  [&](const Area& other) { return area.overlaps(other); })
            : others.count({result(i).storage, result(i).index}) > 0;
    // An op by itself obeys the rules of the plugin ABI.
    if (meets && i > first_) return i;
    note(made);
  }
  return end;
}

const Flow& Compiler::flow() {
  if (flow_ == nullptr) {
    flow_ = std::make_unique<const Flow>(
        ops(), values(), [this](int32_t i) { return max_bytes(i); });
  }
  return *flow_;
}

Chain::Chain(Compiler& c, size_t first)
    : elements_(elements_of(c.value(c.ops()[first].outputs[0]))) {
  const Links links(c, first);
  size_t end = links.find_end();
  // Where slots do not suffice, the chain is shorter, and more of it is kept.
  for (size_t linked = link(c, links, first, end); linked < end;
       linked = link(c, links, first, end)) {
    end = links.without_hazards(linked);
  }
  find_groups(links, first);
}

// Makes the links from `first` to `end`. Gives the first one for whose result
// there was no slot, or `end`.
size_t Chain::link(Compiler& c, const Links& links, size_t first, size_t end) {
  links_.clear();
  reads_.clear();
  writes_.clear();
  slots_ = 0;
  cost_ = 0;
  std::vector<int> free;
  for (size_t i = first; i < end; ++i) {
    const Op& op = c.ops()[i];
    Link link = {Elements(op, c.values()), {}, {}};
    for (int k = 0; k < link.elements.operands(); ++k) {
      const size_t maker = links.maker(i, k);
      if (maker != Flow::kNobody) link.from[k] = links_[maker - first].to;
      if (link.from[k].slot == kMemory) {
        link.from[k].place = c.place(op.inputs[k]);
        if (maker == Flow::kNobody) reads_.push_back(c.area(op.inputs[k]));
      } else if (c.flow().last_reader(maker) == i &&
                 std::find(free.begin(), free.end(), link.from[k].slot) ==
                     free.end()) {
        // The result may take it: kernels read an element before they write it.
        free.push_back(link.from[k].slot);
      }
    }
    if (links.is_kept(i, end)) {
      link.to.place = c.place(op.outputs[0]);
      writes_.push_back(c.area(op.outputs[0]));
    } else if (!free.empty()) {
      link.to.slot = free.back();
      free.pop_back();
    } else if (slots_ < kMostSlots) {
      link.to.slot = slots_++;
    } else {
      return i;
    }
    if (link.to.slot != kMemory && c.flow().last_reader(i) == i) {
      free.push_back(link.to.slot);  // not read again
    }
    cost_ += link.elements.cost();
    links_.push_back(link);
  }
  return end;
}

int Chain::handed_on(const Links& links, size_t first, size_t link) const {
  if (links_[link - 1].to.slot == kMemory ||
      !links.is_last_reader(first + link - 1, first + link)) {
    return -1;
  }
  int found = -1;
  for (int k = 0; k < links_[link].elements.operands(); ++k) {
    if (links.maker(first + link, k) != first + link - 1) continue;
    if (found >= 0) return -1;
    found = k;
  }
  return found;
}

void Chain::find_groups(const Links& links, size_t first) {
  for (size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    const int from = i == 0 ? -1 : handed_on(links, first, i);
    const Group* last = groups_.empty() ? nullptr : &groups_.back();
    // The first of a group begins with what it finds.
    const Link* before = i == 0 ? nullptr : &links_[i - 1];
    if (from >= 0 && last->end - last->first < kMostTogether &&
        what_of(before->elements, before->at_hand) &&
        what_of(link.elements, from)) {
      link.at_hand = from;
      groups_.back().end = i + 1;
      continue;
    }
    const bool second =
        link.elements.code() == RC_OP_BINARY && link.elements.step(0) == 0;
    link.at_hand = second ? 1 : 0;
    groups_.push_back({i, i + 1});
  }
}

void Chain::work(const Run& run, int64_t block, float* slots) const {
  const int64_t begin = block * kBlock;
  const int64_t count = std::min(kBlock, elements_ - begin);
  for (const Group& group : groups_) {
    if (group.end - group.first > 1) {
      compute(run, group, begin, count, slots);
    } else {
      compute(run, links_[group.first], begin, count, slots);
    }
  }
}

void Chain::compute(const Run& run, const Group& group, int64_t begin,
                    int64_t count, float* slots) const {
  const auto at = [&](const Link& link, int k) {
    const Spot& spot = link.from[k];
    return spot.slot == kMemory
               ? run.at<const float>(spot.place) + begin * link.elements.step(k)
               : slots + spot.slot * kBlock;
  };
  ElementOp ops[kMostTogether];
  ElementsTask task;
  task.n = count;
  task.ops = ops;
  task.count = 0;
  for (size_t i = group.first; i < group.end; ++i) {
    const Link& link = links_[i];
    ElementOp& op = ops[task.count++];
    op.what = *what_of(link.elements, link.at_hand);
    if (link.elements.code() == RC_OP_BINARY) {
      const int other = 1 - link.at_hand;
      op.step = static_cast<int32_t>(link.elements.step(other));
      op.other = at(link, other);
    }
  }
  const Link& first = links_[group.first];
  const Link& last = links_[group.end - 1];
  task.x = at(first, first.at_hand);
  task.y = last.to.slot == kMemory ? run.at<float>(last.to.place) + begin
                                   : slots + last.to.slot * kBlock;
  const int64_t done = run.kernels.elements(task);
  if (done == count) return;
  // The last few, op by op.
  float rest[kTileRows];
  for (size_t i = group.first; i < group.end; ++i) {
    const Link& link = links_[i];
    const ElementOp& op = ops[i - group.first];
    const float* from[2];
    from[link.at_hand] = i == group.first ? task.x + done : rest;
    if (link.elements.code() == RC_OP_BINARY) {
      from[1 - link.at_hand] = op.other + done * op.step;
    }
    link.elements.compute_at(run.kernels, from, count - done,
                             i + 1 == group.end ? task.y + done : rest);
  }
}

// A link's elements from `begin` on, line by line of those that its operands
// have.
void Chain::compute(const Run& run, const Link& link, int64_t begin,
                    int64_t count, float* slots) const {
  const Elements& elements = link.elements;
  const int operands = elements.operands();
  const auto slot = [&](int number) { return slots + number * kBlock; };
  const int64_t columns = elements.columns();
  float* to = link.to.slot == kMemory ? run.at<float>(link.to.place) + begin
                                      : slot(link.to.slot);
  const float* from[Elements::kMost];
  for (int k = 0; k < operands; ++k) {
    from[k] = link.from[k].slot == kMemory
                  ? run.at<const float>(link.from[k].place)
                  : slot(link.from[k].slot);
  }
  int64_t done = 0;
  while (done < count) {
    // Most often there is one line, and divisions are dear where a block is
    // small.
    const bool one_line = columns == elements_;
    const int64_t line = one_line ? 0 : (begin + done) / columns;
    const int64_t first = begin + done - line * columns;
    const int64_t some = std::min(count - done, columns - first);
    const float* at[Elements::kMost];
    for (int k = 0; k < operands; ++k) {
      // A slot begins where the block does.
      at[k] =
          from[k] + (link.from[k].slot == kMemory
                         ? elements.offset(k, line) + first * elements.step(k)
                         : done);
    }
    elements.compute_at(run.kernels, at, some, to + done);
    done += some;
  }
}

}  // namespace rc::cpu

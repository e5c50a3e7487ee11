#include "text/tokenizer_json/cuts.h"

#include <algorithm>
#include <string>

#include "base/quote.h"

namespace rc::text {
namespace {

std::vector<Span> contiguous(const std::vector<Cut>& cuts) {
  std::vector<Span> words;
  for (size_t i = 0; i < cuts.size(); ++i) {
    if (i > 0 && cuts[i].is_match == cuts[i - 1].is_match) {
      words.back().end = cuts[i].span.end;
    } else {
      words.push_back(cuts[i].span);
    }
  }
  return words;
}

std::vector<Span> merged_with_previous(const std::vector<Cut>& cuts) {
  std::vector<Span> words;
  bool after_match = false;
  for (const Cut& cut : cuts) {
    if (cut.is_match && !after_match && !words.empty()) {
      words.back().end = cut.span.end;
    } else {
      words.push_back(cut.span);
    }
    after_match = cut.is_match;
  }
  return words;
}

std::vector<Span> merged_with_next(const std::vector<Cut>& cuts) {
  std::vector<Span> words;  // from the end
  bool before_match = false;
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
    if (cut->is_match && !before_match && !words.empty()) {
      words.back().begin = cut->span.begin;
    } else {
      words.push_back(cut->span);
    }
    before_match = cut->is_match;
  }
  std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace

CutBehavior read_behavior(const JsonNode& node) {
  const std::string name = node.text();
  if (name == "Removed") return CutBehavior::kRemoved;
  if (name == "Isolated") return CutBehavior::kIsolated;
  if (name == "MergedWithPrevious") return CutBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return CutBehavior::kMergedWithNext;
  if (name == "Contiguous") return CutBehavior::kContiguous;
  node.refuse("is ", quote(name),
              "; it must be Removed, Isolated, MergedWithPrevious, "
              "MergedWithNext or Contiguous");
}

std::vector<Cut> cuts_of(const std::vector<Span>& matches, size_t size,
                         bool invert) {
  std::vector<Cut> cuts;
  cuts.reserve(matches.size() * 2 + 1);
  size_t done = 0;
  for (const Span match : matches) {
    if (match.begin > done) cuts.push_back({{done, match.begin}, invert});
    cuts.push_back({match, !invert});
    done = match.end;
  }
  if (done < size) cuts.push_back({{done, size}, invert});
  return cuts;
}

std::vector<Span> apply_behavior(const std::vector<Cut>& cuts,
                                 CutBehavior behavior) {
  switch (behavior) {
    case CutBehavior::kContiguous:
      return contiguous(cuts);
    case CutBehavior::kMergedWithPrevious:
      return merged_with_previous(cuts);
    case CutBehavior::kMergedWithNext:
      return merged_with_next(cuts);
    case CutBehavior::kRemoved:
    case CutBehavior::kIsolated:
      break;
  }
  std::vector<Span> words;
  words.reserve(cuts.size());
  for (const Cut& cut : cuts) {
    if (cut.is_match && behavior == CutBehavior::kRemoved) continue;
    words.push_back(cut.span);
  }
  return words;
}

}  // namespace rc::text

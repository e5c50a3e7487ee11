#include "engine/prefix_cache.h"

#include <algorithm>

namespace rc::engine {

bool PrefixCache::Equal::operator()(const Probe& a, const Entry* b) const {
  return a.hash == b->hash && a.parent == b->parent &&
         std::equal(a.tokens.begin(), a.tokens.end(), b->tokens.begin(),
                    b->tokens.end());
}

PrefixCache::Probe PrefixCache::probe(const Entry* parent,
                                      std::span<const TokenId> tokens) {
  // The finaliser of SplitMix64 (Steele, Lea and Flood 2014), once per token.
  uint64_t hash = parent == nullptr ? 0x9e3779b97f4a7c15u : parent->hash;
  for (TokenId token : tokens) {
    hash += 0x9e3779b97f4a7c15u + static_cast<uint32_t>(token);
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    hash ^= hash >> 31;
  }
  return {parent, tokens, hash};
}

const PrefixCache::Entry* PrefixCache::find(const Entry* parent,
                                            std::span<const TokenId> tokens) {
  const auto found = index_.find(probe(parent, tokens));
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, (*found)->place);
  return *found;
}

const PrefixCache::Entry* PrefixCache::insert(const Entry* parent,
                                              std::span<const TokenId> tokens,
                                              PageId page) {
  if (const Entry* present = find(parent, tokens)) return present;
  entries_.push_front({parent,
                       {tokens.begin(), tokens.end()},
                       probe(parent, tokens).hash,
                       page,
                       kNoPage,
                       kNoPage,
                       0,
                       {}});
  Entry& entry = entries_.front();
  entry.place = entries_.begin();
  try {
    index_.insert(&entry);
  } catch (...) {
    entries_.pop_front();
    throw;
  }
  pool_.retain(page);
  if (parent != nullptr) ++const_cast<Entry*>(parent)->children;
  return &entry;
}

void PrefixCache::keep_state(const Entry* entry, SlotId slot) noexcept {
  slots_.retain(slot);
  entry->place->slot = slot;
}

void PrefixCache::keep_window(const Entry* entry, PageId page) noexcept {
  windows_.retain(page);
  entry->place->window_page = page;
}

bool PrefixCache::evict(PageId Entry::*part, PagePool& pool) noexcept {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    PageId& kept = (*entry).*part;
    if (kept == kNoPage || pool.references(kept) > 1) continue;
    pool.release(kept);
    kept = kNoPage;
    return true;
  }
  return false;
}

void PrefixCache::release(Entry& entry) noexcept {
  pool_.release(entry.page);
  if (entry.window_page != kNoPage) windows_.release(entry.window_page);
  if (entry.slot != kNoPage) slots_.release(entry.slot);
}

bool PrefixCache::evict() noexcept {
  for (auto entry = entries_.end(); entry != entries_.begin();) {
    --entry;
    if (entry->children == 0 && pool_.references(entry->page) == 1) {
      remove(entry);
      return true;
    }
  }
  return false;
}

void PrefixCache::clear() noexcept {
  index_.clear();
  for (Entry& entry : entries_) release(entry);
  entries_.clear();
}

void PrefixCache::remove(std::list<Entry>::iterator entry) noexcept {
  index_.erase(&*entry);
  if (entry->parent != nullptr) {
    --const_cast<Entry*>(entry->parent)->children;
  }
  release(*entry);
  entries_.erase(entry);
}

}  // namespace rc::engine

#include "engine/prefix_cache.h"

namespace rc::engine {

bool PrefixCache::Equal::operator()(const Probe& a, const Entry* b) const {
  return a.hash == b->hash && a.place.parent == b->parent &&
         a.place.variant == b->variant && a.items == b->items.all();
}

PrefixCache::Probe PrefixCache::probe(const Place& place,
                                      const ItemSpan& items) {
  const Entry* const parent = place.parent;
  const uint64_t before =
      parent == nullptr ? place.variant.hash() : parent->hash;
  return {place, items, items.hash(before)};
}

const PrefixCache::Entry* PrefixCache::find(const Place& place,
                                            const ItemSpan& items) {
  const auto found = index_.find(probe(place, items));
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, (*found)->place);
  return *found;
}

const PrefixCache::Entry* PrefixCache::insert(const Place& place,
                                              const ItemSpan& items,
                                              PageId page) {
  if (const Entry* present = find(place, items)) return present;
  entries_.push_front({place.variant,
                       place.parent,
                       Items(items),
                       probe(place, items).hash,
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
  if (place.parent != nullptr) {
    ++const_cast<Entry*>(place.parent)->children;
  }
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

// Finds full pages that an earlier session has computed for the same first
// items, so that they need not be computed again.
//
// An entry is one full page: its items and the entry of the page before it.
// Entries are found by a chained hash of both, and then both are compared, so
// that no collision of hashes can ever mix two sessions. The cache holds a
// reference to each page; pages that no session holds are evicted when the
// pool runs dry, the least recently used first, and none before those that
// follow it.
//
// Belongs to the engine thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_set>

#include "engine/items.h"
#include "engine/page_pool.h"
#include "engine/variant.h"

namespace rc::engine {

class PrefixCache {
 public:
  struct Entry {
    Variant variant;      // as that of the parent
    const Entry* parent;  // nullptr: the first page of a session
    Items items;
    uint64_t hash;
    PageId page;
    // The page of layers with a window, if they have separate pages and it was
    // kept.
    PageId window_page = kNoPage;
    // The state after the page's last token, where one was kept.
    SlotId slot = kNoPage;
    size_t children = 0;
    std::list<Entry>::iterator place;  // in the order of use
  };

  PrefixCache(PagePool& pages, PagePool& windows, PagePool& slots)
      : pool_(pages), windows_(windows), slots_(slots) {}
  ~PrefixCache() { clear(); }
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  // The place of a page: behind its parent, among sessions of a variant.
  struct Place {
    Variant variant;
    const Entry* parent = nullptr;  // as in Entry
  };

  // The entry of the page with these items at a place, or nullptr. It and its
  // parents live while a session holds its page.
  const Entry* find(const Place& place, const ItemSpan& items);

  // The entry for such a page, made with `page` unless there is one already.
  // The parent must be alive. May throw std::bad_alloc and then changes
  // nothing.
  const Entry* insert(const Place& place, const ItemSpan& items, PageId page);

  // Keep the state after an entry that has none, and the page of windows. Each
  // adds a reference.
  void keep_state(const Entry* entry, SlotId slot) noexcept;
  void keep_window(const Entry* entry, PageId page) noexcept;
  // Release the reference to the state, or the page of windows, of the least
  // recently used entry that no session holds. Return false if there is none.
  bool evict_state() noexcept { return evict(&Entry::slot, slots_); }
  bool evict_window() noexcept { return evict(&Entry::window_page, windows_); }

  // Gives back the reference to one page that no session holds; false if there
  // is none.
  bool evict() noexcept;

  // Gives back all references. Only when no session uses an entry.
  void clear() noexcept;

  size_t size() const { return entries_.size(); }

 private:
  struct Probe {
    const Place& place;
    const ItemSpan& items;
    uint64_t hash;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Probe& probe) const { return probe.hash; }
    size_t operator()(const Entry* entry) const { return entry->hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Entry* a, const Entry* b) const { return a == b; }
    bool operator()(const Probe& a, const Entry* b) const;
    bool operator()(const Entry* a, const Probe& b) const {
      return (*this)(b, a);
    }
  };

  static Probe probe(const Place& place, const ItemSpan& items);
  void remove(std::list<Entry>::iterator entry) noexcept;

  bool evict(PageId Entry::*part, PagePool& pool) noexcept;
  // Gives back what the entry keeps.
  void release(Entry& entry) noexcept;

  PagePool& pool_;
  PagePool& windows_;
  PagePool& slots_;
  std::list<Entry> entries_;  // the most recently used first
  std::unordered_set<Entry*, Hash, Equal> index_;
};

}  // namespace rc::engine

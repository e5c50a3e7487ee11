// Counts the work that a grammar does for one text, in steps that depend
// neither on the machine nor on the time.
//
// A step is about one derivative, one state or one node of a tree of tokens
// that is looked at. Most of the work is building states, which the grammar
// keeps, so that it is done and counted once.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace rc::text::grammar {

// The work for one text. Belongs to one matcher, and is used as that one is.
class Work {
 public:
  // Thrown by a function of a matcher when its slice is over. The same call
  // goes on from what the grammar has built so far.
  struct Postponed {};

  // The most steps for a text: kMost, and kMostPerToken for each of its tokens.
  static constexpr uint64_t kMost = 2'000'000;
  static constexpr uint64_t kMostPerToken = 20'000;
  // The most steps for compiling a grammar.
  static constexpr uint64_t kMostToCompile = 20'000'000;

  explicit Work(uint64_t most = kMost, const char* what = "a text under it")
      : most_(most), what_(what) {}
  // The work for a text that begins like another one.
  Work(const Work& other)
      : most_(other.most_), what_(other.what_), kept_(other.kept_) {}
  Work& operator=(const Work&) = delete;

  // Functions that are called from now on throw Postponed after `steps` steps;
  // unless `waits`, also where another thread is building states of the same
  // grammar. Now and then `stop` is called; it may throw, to end the call.
  void begin_slice(uint64_t steps, bool waits, std::function<void()> stop);
  // Functions that are called from now on do all of their work.
  void end_slice() noexcept;
  // The steps since the last begin_slice() or end_slice().
  uint64_t in_slice() const { return slice_; }

  // The steps so far that count towards the limit: what was built, and the
  // rest of calls that succeeded.
  uint64_t total() const { return kept_; }
  // Adds to the limit.
  void allow(uint64_t steps) { most_ += steps; }

  // Count steps of the thread's present call: those whose results are kept,
  // just before they are, and those that are done again if the call is
  // repeated. Throw RC_E_UNSUPPORTED above the limit, Postponed, and what
  // `stop` throws.
  static void build(uint64_t steps) {
    if (Work* const work = current_) {
      work->add(steps);
      work->kept_ += steps;
    }
  }
  static void walk(uint64_t steps) { walk(current_, steps); }

  // A mark for keep().
  static uint64_t walked() { return current_ == nullptr ? 0 : current_->call_; }
  // The steps since the mark are not done again: their result is kept.
  static void keep(uint64_t mark) {
    Work* const work = current_;
    if (work == nullptr || work->call_ < mark) return;
    work->kept_ += work->call_ - mark;
    work->call_ = mark;
  }

  // walk() for the work of current(), which may be nullptr; quicker.
  static Work* current() { return current_; }
  static void walk(Work* work, uint64_t steps) {
    if (work == nullptr) return;
    work->add(steps);
    work->call_ += steps;
  }

  // Makes the thread count for `work` as long as this lives.
  class Call {
   public:
    explicit Call(Work* work) noexcept : work_(*work), outer_(current_) {
      current_ = work;
      work_.call_ = 0;
    }
    ~Call() { current_ = outer_; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
    // Keeps the steps of the call, which has succeeded.
    void done() noexcept {
      work_.kept_ += work_.call_;
      work_.call_ = 0;
    }

   private:
    Work& work_;
    Work* const outer_;
  };

  // Locks a mutex that guards what a grammar has built. Throws Postponed
  // instead of waiting, where the thread's present call does not wait.
  class Lock {
   public:
    explicit Lock(std::recursive_mutex& mutex) : mutex_(mutex) {
      const Work* const work = current_;
      if (work == nullptr || work->waits_) {
        mutex_.lock();
      } else if (!mutex_.try_lock()) {
        throw Postponed();
      }
    }
    ~Lock() { mutex_.unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    std::recursive_mutex& mutex_;
  };

 private:
  static constexpr uint64_t kBetweenLooks = 256;

  void add(uint64_t steps) {
    slice_ += steps;
    if (kept_ + call_ + steps > most_) refuse();
    if (slice_ >= look_at_) look();
  }
  [[noreturn]] void refuse() const;
  void look();

  static thread_local constinit Work* current_;

  uint64_t most_;
  const char* what_;  // for messages
  uint64_t kept_ = 0;
  uint64_t call_ = 0;   // of the present call, as far as it may be repeated
  uint64_t slice_ = 0;  // all steps of the slice
  uint64_t slice_end_ = UINT64_MAX;
  uint64_t look_at_ = UINT64_MAX;
  bool waits_ = true;
  std::function<void()> stop_;
};

}  // namespace rc::text::grammar

#include "engine/scheduler.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "engine/fair_share.h"

namespace rc::engine {
namespace {

// Pages that a candidate has to take for `rows` more rows.
int64_t pages_for(const Candidate& c, int64_t rows, int64_t page_size) {
  if (rows == 0) return 0;
  const int64_t beyond = std::max<int64_t>(rows - c.room, 0);
  return c.pages_first + (beyond + page_size - 1) / page_size;
}

// The most rows for which `pages` suffice.
int64_t rows_for(const Candidate& c, int64_t pages, int64_t page_size) {
  if (pages < c.pages_first) return 0;
  return c.room + (pages - c.pages_first) * page_size;
}

// Rows that kernels do at once. Each step reads all weights, which a few rows
// left over would not be worth.
constexpr int64_t kMultiple = 8;

// Rows of the next step of the only prompt, of at most `rows`. It is cut evenly
// if it takes several steps, into such multiples.
int64_t piece(int64_t rows_left, int64_t rows) {
  if (rows <= 0 || rows_left <= rows) return std::min(rows, rows_left);
  const int64_t steps = (rows_left + rows - 1) / rows;
  const int64_t even = (rows_left + steps - 1) / steps;
  return std::min(rows, (even + kMultiple - 1) / kMultiple * kMultiple);
}

class Planner {
 public:
  Planner(std::span<const Candidate> candidates, const Budget& budget)
      : candidates_(candidates), budget_(budget), left_(budget) {
    schedule_.rows.assign(candidates.size(), 0);
    granted_.assign(candidates.size(), false);
    rank_.resize(candidates.size());
    std::iota(rank_.begin(), rank_.end(), size_t{0});
    std::sort(rank_.begin(), rank_.end(), [&](size_t a, size_t b) {
      const Candidate& x = candidates_[a];
      const Candidate& y = candidates_[b];
      return x.priority != y.priority ? x.priority > y.priority
                                      : x.arrival < y.arrival;
    });
  }

  Schedule run() && {
    if (left_.whole) {
      serve_whole();
      return std::move(schedule_);
    }
    grant_first_rows();
    serve_decoding();
    serve_sources();
    serve_prompts();
    for (const size_t i : postponed_) give(i, candidates_[i].rows_left);
    return std::move(schedule_);
  }

 private:
  // Sets pages aside for a first row of everybody, best rank first; the last
  // in rank give theirs back where that helps.
  void grant_first_rows() {
    size_t end = rank_.size();  // those behind have been preempted
    for (size_t i = 0; i < end; ++i) {
      const Candidate& c = candidates_[rank_[i]];
      const int64_t first =
          pages_for(c, c.source ? c.rows_left : 1, left_.page_size);
      int64_t needed = first;
      // No job begins that could not get through its prompt along with the
      // others, or it would soon be preempted and begin again and again.
      if (c.pages_owned == 0 && i > 0) {
        needed = pages_for(c, c.rows_left, left_.page_size) +
                 static_cast<int64_t>(i);
      }
      int64_t reachable = left_.pages;
      for (size_t j = i + 1; j < end; ++j) {
        reachable += candidates_[rank_[j]].pages_owned;
      }
      if (reachable < needed) continue;
      while (left_.pages < needed) {
        const size_t victim = rank_[--end];
        if (candidates_[victim].pages_owned == 0) continue;
        schedule_.preempted.push_back(victim);
        left_.pages += candidates_[victim].pages_owned;
      }
      left_.pages -= first;
      granted_[rank_[i]] = true;
    }
  }

  void serve_decoding() {
    std::vector<size_t> decoding;
    int64_t rows = 0;
    const Waiting waiting = waiting_prompts();
    bool any = false;
    for (size_t i : rank_) {
      if (!candidates_[i].decoding || !granted_[i]) continue;
      any = true;
      if (yields(candidates_[i], waiting)) {
        postponed_.push_back(i);
        continue;
      }
      decoding.push_back(i);
      rows += candidates_[i].rows_left;
    }
    if (!all_fit(rows)) put_in_turn(decoding);
    for (size_t i : decoding) give(i, candidates_[i].rows_left);
    left_.rows = std::min(left_.rows, any ? left_.prompt_rows_while_decoding
                                          : left_.prompt_rows_alone);
  }

  // Prompts that wait: the leads of their tenants, in rising order, and how
  // many rows they have up to each; and the lead that a stream may have before
  // it yields to them.
  struct Waiting {
    std::vector<std::pair<double, int64_t>> rows;
    double far_ahead = 0;
  };
  Waiting waiting_prompts() const {
    Waiting waiting;
    // Only a stream of a tenant that is ahead yields.
    const bool any_ahead =
        std::any_of(rank_.begin(), rank_.end(), [this](size_t i) {
          return candidates_[i].decoding && candidates_[i].lead > 0;
        });
    if (left_.seconds_per_row == 0 || !any_ahead) return waiting;
    std::map<const void*, double> weights;
    for (const size_t i : rank_) {
      const Candidate& c = candidates_[i];
      weights[c.tenant] = c.weight;
      if (c.decoding || c.source || !granted_[i]) continue;
      waiting.rows.emplace_back(c.lead, c.rows_left);
    }
    std::sort(waiting.rows.begin(), waiting.rows.end());
    int64_t rows = 0;
    for (auto& [lead, sum] : waiting.rows) sum = rows += sum;
    double all_weights = 0;
    for (const auto& [tenant, weight] : weights) all_weights += weight;
    // More than a tenant can be ahead of others because they are behind.
    waiting.far_ahead = 2 * FairShare::kMostBehind / all_weights;
    return waiting;
  }

  // Whether a stream waits, because its tenant is far ahead of others whose
  // prompts could use all rows for prompts of this step.
  bool yields(const Candidate& c, const Waiting& waiting) const {
    const double row = left_.seconds_per_row / c.weight;
    const auto end = std::lower_bound(
        waiting.rows.begin(), waiting.rows.end(),
        std::pair(c.lead - std::max(waiting.far_ahead, row), int64_t{0}));
    return end != waiting.rows.begin() &&
           std::prev(end)->second >= left_.prompt_rows_while_decoding;
  }

  // Their pages have been set aside. What they take of the step's time is not
  // for prompts.
  void serve_sources() {
    std::vector<size_t> sources;
    for (size_t i : rank_) {
      if (candidates_[i].source && granted_[i]) sources.push_back(i);
    }
    put_in_turn(sources);
    const int64_t soft = left_.rows;
    int64_t given = 0;
    int64_t sequences = 0;
    for (const size_t i : sources) {
      const int64_t rows = candidates_[i].rows_left;
      if (given + rows > budget_.rows || sequences == budget_.sequences ||
          (given > 0 && given + rows > soft)) {
        continue;
      }
      given += rows;
      ++sequences;
      schedule_.rows[i] = rows;
    }
    left_.rows = std::max<int64_t>(left_.rows - given, 0);
  }

  void serve_prompts() {
    std::vector<size_t> prompts;
    for (size_t i : rank_) {
      const Candidate& c = candidates_[i];
      if (!c.decoding && !c.source && granted_[i]) prompts.push_back(i);
    }
    if (prompts.size() == 1) {
      const int64_t rows_left = candidates_[prompts[0]].rows_left;
      give(prompts[0], piece(rows_left, left_.rows));
      return;
    }
    if (!all_fit(static_cast<int64_t>(prompts.size()))) put_in_turn(prompts);
    for (size_t begin = 0; begin < prompts.size();) {
      size_t end = begin;
      const int32_t priority = candidates_[prompts[begin]].priority;
      while (end < prompts.size() &&
             candidates_[prompts[end]].priority == priority) {
        ++end;
      }
      share(std::span(prompts).subspan(begin, end - begin));
      begin = end;
    }
  }

  // No candidate holds pages between steps then, and the budget of an empty
  // step has room for any: the first in turn has its rows.
  void serve_whole() {
    std::vector<size_t> some = rank_;
    put_in_turn(some);
    const int64_t soft = std::min(left_.rows, left_.prompt_rows_alone);
    int64_t given = 0;
    int64_t served = 0;
    size_t last = 0;  // of those that are served
    for (const size_t i : some) {
      const int64_t rows = candidates_[i].rows_left;
      if (!has_room(i) || (given > 0 && given + rows > soft)) continue;
      take(i, 1);
      given += rows;
      last = i;
      ++served;
    }
    // The first in turn does not wait for others.
    if (served > 1 && given % kMultiple != 0) exchange(some, last, given, soft);
  }

  // Serves another of its tenant instead of the last one, where the step comes
  // to a multiple of what kernels do at once then, and is hardly smaller.
  void exchange(const std::vector<size_t>& some, size_t last, int64_t given,
                int64_t soft) {
    const Candidate& before = candidates_[last];
    const int64_t others = given - before.rows_left;
    take(last, -1);
    size_t best = last;
    int64_t most = given / kMultiple * kMultiple - 1;
    for (const size_t i : some) {
      const Candidate& c = candidates_[i];
      const int64_t rows = others + c.rows_left;
      if (schedule_.rows[i] == 0 && c.priority == before.priority &&
          c.tenant == before.tenant && rows % kMultiple == 0 && rows > most &&
          rows <= soft && has_room(i)) {
        best = i;
        most = rows;
      }
    }
    take(best, 1);
  }

  // Whether the budget has room for all rows of a candidate.
  bool has_room(size_t i) const {
    const Candidate& c = candidates_[i];
    return c.rows_left <= left_.rows &&
           std::min(c.outputs, c.rows_left) <= left_.outputs &&
           pages_for(c, c.rows_left, left_.page_size) <= left_.pages &&
           left_.sequences > 0;
  }

  // All of its rows, or with -1 back.
  void take(size_t i, int64_t sign) {
    const Candidate& c = candidates_[i];
    left_.rows -= sign * c.rows_left;
    left_.outputs -= sign * std::min(c.outputs, c.rows_left);
    left_.pages -= sign * pages_for(c, c.rows_left, left_.page_size);
    left_.sequences -= sign;
    schedule_.rows[i] = sign > 0 ? c.rows_left : 0;
  }

  // Whether so many rows, each of a sequence and with an output, have room.
  bool all_fit(int64_t rows) const {
    return rows <= std::min({left_.rows, left_.sequences, left_.outputs});
  }

  // For when not every one of them can have a row: by priority, then the n-th
  // of each tenant before the next of any whose n is larger for its weight, n
  // beginning with the rows that the tenant is ahead.
  void put_in_turn(std::vector<size_t>& some) const {
    std::stable_sort(some.begin(), some.end(), [&](size_t a, size_t b) {
      return candidates_[a].last_step < candidates_[b].last_step;
    });
    const double per_row = left_.seconds_per_row;
    std::map<std::pair<int32_t, const void*>, double> counts;
    std::vector<double> turn(candidates_.size());
    for (const size_t i : some) {
      const Candidate& c = candidates_[i];
      const double ahead = per_row > 0 ? c.lead / per_row : 0.0;
      turn[i] = ahead + ++counts[{c.priority, c.tenant}] / c.weight;
    }
    std::stable_sort(some.begin(), some.end(), [&](size_t a, size_t b) {
      const Candidate& x = candidates_[a];
      const Candidate& y = candidates_[b];
      return x.priority != y.priority ? x.priority > y.priority
                                      : turn[a] < turn[b];
    });
  }

  // The tenants of prompts, and the number of prompts of each.
  struct Tenant : FairRows {
    int64_t prompts = 0;
  };
  using Tenants = std::map<const void*, Tenant>;

  Tenants tenants_of(std::span<const size_t> prompts) const {
    Tenants tenants;
    for (const size_t i : prompts) {
      const Candidate& c = candidates_[i];
      Tenant& tenant = tenants[c.tenant];
      tenant.weight = c.weight;
      tenant.lead = c.lead;
      ++tenant.prompts;
    }
    return tenants;
  }

  // Shares by weight and lead; what the short ones leave goes to the others.
  void share(std::span<const size_t> prompts) {
    Tenants tenants = tenants_of(prompts);
    std::vector<FairRows*> all;
    for (auto& [identity, tenant] : tenants) all.push_back(&tenant);
    divide_rows(left_.rows, left_.seconds_per_row, all);
    // A prompt has a row at least, of those of its tenant.
    std::vector<size_t> turn(prompts.begin(), prompts.end());
    const bool have_places =
        std::all_of(tenants.begin(), tenants.end(), [](const auto& each) {
          return each.second.rows >= static_cast<double>(each.second.prompts);
        });
    if (!have_places) put_in_turn(turn);
    std::vector<size_t> order;
    std::vector<size_t> later;
    std::map<const void*, double> served;
    const int64_t most = std::min(left_.rows, left_.sequences);
    for (const size_t i : turn) {
      const double rows = tenants[candidates_[i].tenant].rows;
      double& count = served[candidates_[i].tenant];
      if (rows > 0 && (count == 0 || count < rows) &&
          std::ssize(order) < most) {
        order.push_back(i);
        ++count;
      } else {
        later.push_back(i);
      }
    }
    // The part of a prompt in its tenant's rows.
    const auto part = [&](size_t i) {
      const void* const tenant = candidates_[i].tenant;
      return tenants[tenant].rows / served[tenant];
    };
    double parts = 0;
    for (const size_t i : order) parts += part(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return static_cast<double>(candidates_[a].rows_left) * part(b) <
             static_cast<double>(candidates_[b].rows_left) * part(a);
    });
    for (size_t i = 0; i < order.size(); ++i) {
      // Each has a row at least: there are enough.
      const double mine = part(order[i]);
      const auto others = static_cast<int64_t>(order.size() - i) - 1;
      // Sums of thirds are not exact.
      const double share =
          std::ceil(static_cast<double>(left_.rows) * mine / parts - 1e-6);
      give(order[i], std::clamp<int64_t>(static_cast<int64_t>(share), 1,
                                         left_.rows - others));
      parts -= mine;
    }
    for (const size_t i : later) give(i, left_.rows);
  }

  // Gives up to `rows` rows, as far as the budget goes.
  void give(size_t i, int64_t rows) {
    const Candidate& c = candidates_[i];
    const int64_t wanted = std::min(c.outputs, c.rows_left);
    const int64_t unseen = c.rows_left - wanted;  // rows without outputs
    rows = std::min({rows, c.rows_left, left_.rows, unseen + left_.outputs});
    if (left_.sequences == 0 || rows <= 0) return;
    const int64_t first = pages_for(c, 1, left_.page_size);
    rows = std::min(rows, rows_for(c, left_.pages + first, left_.page_size));
    const int64_t outputs = std::max<int64_t>(rows - unseen, 0);
    left_.pages -= pages_for(c, rows, left_.page_size) - first;
    left_.rows -= rows;
    left_.outputs -= outputs;
    left_.sequences -= 1;
    schedule_.rows[i] = rows;
  }

  std::span<const Candidate> candidates_;
  const Budget& budget_;
  Budget left_;
  std::vector<size_t> rank_;
  std::vector<bool> granted_;
  std::vector<size_t> postponed_;  // streams of tenants that are far ahead
  Schedule schedule_;
};

}  // namespace

Schedule schedule(std::span<const Candidate> candidates, const Budget& budget) {
  return Planner(candidates, budget).run();
}

void StepClock::observe(int64_t rows, double seconds) {
  if (rows < kLeastRows || seconds <= 0.0) return;
  const double now = seconds / static_cast<double>(rows);
  seconds_per_row_ =
      seconds_per_row_ == 0.0 ? now : 0.75 * seconds_per_row_ + 0.25 * now;
}

int64_t StepClock::rows_within(double seconds, int64_t least) const {
  if (seconds_per_row_ == 0.0) return 4 * kLeastRows;
  const double rows = seconds / seconds_per_row_;
  if (rows >= 1e9) return 1'000'000'000;
  return std::max(static_cast<int64_t>(rows), least);
}

}  // namespace rc::engine

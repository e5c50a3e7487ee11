// How far tenants are ahead of their fair share of an engine's time.
//
// The share is that of generalized processor sharing (Parekh and Gallager,
// IEEE/ACM Transactions on Networking 1(3), 1993): in each moment the tenants
// that could use more time get it in proportion to their weights, and what the
// others do not want is theirs as well. A tenant's lead is the time that it has
// had beyond that, divided by its weight. Tenants whose leads are equal have
// had their shares, so a scheduler that favours small leads keeps to them over
// time.
//
// Leads are bounded: a tenant saves up no more than a small credit while it
// wants less than its share. A lead is forgotten in time while there is no
// competition or the tenant is away.
//
// Belongs to the engine thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>

namespace rc::engine {

class FairShare {
 public:
  // Seconds of device time that a tenant may be ahead, and in which a lead is
  // forgotten.
  static constexpr double kMostAhead = 0.5;
  static constexpr double kForgotten = 1.0;
  // Seconds of device time that a tenant is behind at most, times its share.
  static constexpr double kMostBehind = 0.04;

  // The use of one tenant in a step.
  struct Use {
    double weight = 1.0;
    double seconds = 0.0;     // that it has had
    bool backlogged = false;  // it could have used more
  };
  using Uses = std::map<const void*, Use>;
  // Adds a step. Throws std::bad_alloc, and then the step does not count for
  // all of them.
  void add(const Uses& uses);

  // Seconds by weight; 0 for an unknown tenant.
  double lead(const void* tenant) const;

 private:
  std::map<const void*, double> leads_;
};

// A tenant that wants rows of a step, and the rows that are its share.
struct FairRows {
  double weight = 1.0;
  double lead = 0.0;
  double rows = 0.0;  // written by divide_rows
};
// Divides the rows of a step so that leads come as close to each other as they
// can: all tenants below a level are raised to it, the others get none.
// Reorders the tenants. seconds_per_row 0: unknown, and leads do not count.
void divide_rows(int64_t rows, double seconds_per_row,
                 std::span<FairRows*> tenants);

}  // namespace rc::engine

#include "engine/fair_share.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace rc::engine {

void FairShare::add(const Uses& uses) {
  // The time of the tenants that could use more, or have had more than their
  // share, is divided among them.
  double seconds = 0;
  double weights = 0;
  double all = 0;
  double all_weights = 0;
  bool competition = false;
  for (const auto& [tenant, use] : uses) {
    all += use.seconds;
    all_weights += use.weight;
    if (!use.backlogged && lead(tenant) <= 0) continue;
    competition = competition || use.backlogged;
    seconds += use.seconds;
    weights += use.weight;
  }
  if (competition) {
    const double fair = seconds / weights;
    for (const auto& [tenant, use] : uses) {
      double& lead = leads_[tenant];
      lead = std::clamp(lead + use.seconds / use.weight - fair,
                        -kMostBehind / all_weights, kMostAhead / use.weight);
    }
  }
  const double kept = std::max(0.0, 1 - all / kForgotten);
  for (auto each = leads_.begin(); each != leads_.end();) {
    auto& [tenant, lead] = *each;
    if (competition && uses.contains(tenant)) {
      ++each;
      continue;
    }
    constexpr double kNothing = 1e-6;
    lead *= kept;
    each = std::abs(lead) < kNothing ? leads_.erase(each) : std::next(each);
  }
}

double FairShare::lead(const void* tenant) const {
  const auto found = leads_.find(tenant);
  return found == leads_.end() ? 0.0 : found->second;
}

void divide_rows(int64_t rows, double seconds_per_row,
                 std::span<FairRows*> tenants) {
  const bool known = seconds_per_row > 0;
  const double per_row = known ? seconds_per_row : 1.0;
  const auto lead = [&](const FairRows* tenant) {
    return known ? tenant->lead : 0.0;
  };
  std::sort(tenants.begin(), tenants.end(),
            [&](const auto* a, const auto* b) { return lead(a) < lead(b); });
  double weights = 0;
  double sum = static_cast<double>(rows) * per_row;
  double level = 0;
  for (size_t i = 0; i < tenants.size(); ++i) {
    weights += tenants[i]->weight;
    sum += lead(tenants[i]) * tenants[i]->weight;
    level = sum / weights;
    if (i + 1 == tenants.size() || level <= lead(tenants[i + 1])) break;
  }
  for (FairRows* tenant : tenants) {
    tenant->rows =
        std::max(level - lead(tenant), 0.0) * tenant->weight / per_row;
  }
}

}  // namespace rc::engine

// The account of a backend handle, to which sessions of the models that were
// loaded through it are charged: the tenant that pays, and what the handle has
// used.
#pragma once

#include <memory>
#include <utility>

#include "engine/tenant.h"

namespace rc::engine {

struct Account {
  explicit Account(std::shared_ptr<Tenant> payer = std::make_shared<Tenant>())
      : tenant(std::move(payer)) {}

  const std::shared_ptr<Tenant> tenant;  // never nullptr
  Meter meter;
};

}  // namespace rc::engine

// A model from a hub, into the cache.
#pragma once

#include <string>

#include "hub/fetch.h"

namespace rc::hub {

// As fetch(), for sources that begin with hf:.
std::string fetch_model(const FetchRequest& request);

}  // namespace rc::hub

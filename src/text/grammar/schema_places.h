// The places of schemas in their document. They are written as JSON pointers
// where a message has one: a long name that is part of many would take
// quadratic memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"

namespace rc::text::grammar {

using PlaceId = uint32_t;

class SchemaPlaces {
 public:
  static constexpr PlaceId kRoot = 0;

  PlaceId add(PlaceId parent, std::string_view name) {
    places_.push_back({parent, std::string(name)});
    return static_cast<PlaceId>(places_.size() - 1);
  }

  std::string pointer(PlaceId place) const {
    std::vector<const std::string*> names;
    for (; place != kRoot; place = places_[place].parent) {
      names.push_back(&places_[place].name);
    }
    std::string result;
    for (size_t i = names.size(); i-- > 0;) {
      result = pointer_to(result, *names[i]);
    }
    return result;
  }

 private:
  struct Place {
    PlaceId parent;
    std::string name;
  };
  std::vector<Place> places_ = {{kRoot, ""}};
};

}  // namespace rc::text::grammar

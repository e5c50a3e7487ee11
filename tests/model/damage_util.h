// Golden models with a damage, which must be refused.
#pragma once

#include <functional>
#include <ostream>
#include <vector>

#include "model/patient_util.h"
#include "runcible/base.h"

namespace rc::test {

struct Damage {
  const char* name;
  const char* model;
  std::function<void(Patient&)> inflict;
  rc_status status;
  std::vector<const char*> parts;  // of the message
};

std::ostream& operator<<(std::ostream& out, const Damage& damage);

// The model is accepted, and no more once it is damaged.
void expect_refused(const Damage& damage);

}  // namespace rc::test

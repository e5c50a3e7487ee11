#include "model/damage_util.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "model/model_file.h"

namespace rc::test {

std::ostream& operator<<(std::ostream& out, const Damage& damage) {
  return out << damage.name;
}

void expect_refused(const Damage& damage) {
  Patient patient(damage.model);
  ASSERT_NO_THROW(model::ModelFile::from_gguf(patient.file()));
  damage.inflict(patient);
  try {
    model::ModelFile::from_gguf(patient.file());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), damage.status) << error.what();
    EXPECT_NE(error.message().find("patient.gguf"), std::string::npos);
    for (const char* part : damage.parts) {
      EXPECT_NE(error.message().find(part), std::string::npos)
          << part << " is not in: " << error.what();
    }
  }
}

}  // namespace rc::test

// Files as a writer makes them, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "files/gguf/file.h"
#include "files/gguf/writer.h"

namespace rc::gguf {

inline std::shared_ptr<const File> reopen(const Writer& writer) {
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  EXPECT_EQ(bytes->size(), writer.size());
  return File::from_memory(bytes, *bytes, "written");
}

}  // namespace rc::gguf

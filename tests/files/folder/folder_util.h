// Folders made by hand, valid and invalid ones.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "files/gguf/file.h"
#include "files/safetensors/bytes.h"
#include "temporary.h"
#include "tensor/dtype.h"

namespace rc::folder::test {

// A copy of one of tests/golden/folders that may be changed.
class FolderTest : public ::testing::Test {
 protected:
  // Puts the files there in place of those of before.
  void copy(const std::string& name);
  std::filesystem::path path(const std::string& name = "") const {
    return name.empty() ? folder_ : folder_ / name;
  }
  void write(const std::string& name, std::string_view text) const {
    safetensors::test::write_file(folder_ / name, text);
  }
  // With a change, a JSON merge patch, of a file that holds JSON; null takes a
  // member away.
  void change(const std::string& name, std::string_view patch) const;
  std::shared_ptr<const gguf::File> open() const;
  // Opening fails so, or so does the engine with the folder.
  void expect_refused(rc_status status, std::string_view message) const;

 private:
  rc::test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path() / "model";
};

// A folder with one tensor.
class OneTensor : public FolderTest {
 protected:
  // Its numbers are 0, 1, 2 and so on.
  void write_tensor(const std::string& name, const char* dtype,
                    const std::vector<int64_t>& shape) {
    copy("qwen2");
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    std::string data;
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(i);
      const uint16_t half = f32_to_bf16(value);
      const bool whole = std::string_view(dtype) == "F32";
      data.append(whole ? reinterpret_cast<const char*>(&value)
                        : reinterpret_cast<const char*>(&half),
                  whole ? sizeof value : sizeof half);
    }
    const nlohmann::json header = {{name,
                                    {{"dtype", dtype},
                                     {"shape", shape},
                                     {"data_offsets", {0, data.size()}}}}};
    const std::string text = header.dump();
    write("model.safetensors", safetensors::test::file_bytes(text, 0) + data);
  }

  std::vector<float> floats(const std::string& name) const {
    const auto file = open();
    const gguf::Tensor& tensor = *file->find_tensor(name);
    EXPECT_EQ(tensor.dtype, RC_DTYPE_F32) << name;
    std::vector<float> values(tensor.bytes / sizeof(float));
    file->read(tensor, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }
};

}  // namespace rc::folder::test

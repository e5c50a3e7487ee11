// Folders and files written as files.
#include "files/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "files/gguf/writer.h"
#include "files/open_model.h"
#include "temporary.h"
#include "test_data.h"

namespace rc {
namespace {

using test::source_path;
using test::TemporaryFolder;

class Convert : public ::testing::Test {
 protected:
  std::string target() const { return (folder_.path() / "out.gguf").string(); }
  std::shared_ptr<const gguf::File> converted(const gguf::File& file,
                                              const char* type) const {
    convert_model(file, target(), {.type = type});
    return gguf::File::open(target());
  }
  static std::shared_ptr<const gguf::File> open(const char* name) {
    return open_model((source_path("tests/golden/folders") / name).string());
  }
  size_t files_left() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()),
                      std::filesystem::directory_iterator()));
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Convert, KeepsMetadataAndTensorsOfTheFolder) {
  for (const char* name : {"llama", "gpt_oss", "granitemoehybrid", "bert"}) {
    const auto folder = open(name);
    const auto file = converted(*folder, "");
    ASSERT_EQ(file->entries().size(), folder->entries().size());
    for (const gguf::Entry& entry : folder->entries()) {
      const gguf::Entry* copy = file->find(entry.key);
      ASSERT_NE(copy, nullptr) << entry.key;
      EXPECT_TRUE(std::ranges::equal(copy->bytes, entry.bytes)) << entry.key;
    }
    ASSERT_EQ(file->tensors().size(), folder->tensors().size());
    for (const gguf::Tensor& tensor : folder->tensors()) {
      const gguf::Tensor* copy = file->find_tensor(tensor.name);
      ASSERT_NE(copy, nullptr) << tensor.name;
      EXPECT_EQ(copy->dtype, tensor.dtype) << tensor.name;
      EXPECT_EQ(file->read(*copy), folder->read(tensor)) << tensor.name;
    }
  }
}

TEST_F(Convert, EncodesTheMatrices) {
  const auto folder = open("mixtral");
  const auto file = converted(*folder, "Q8_0");
  EXPECT_EQ(file->find_int("general.file_type"), 7);
  EXPECT_EQ(file->find_int("general.quantization_version"), 2);
  const auto dtype = [&](const char* name) {
    return file->find_tensor(name)->dtype;
  };
  EXPECT_EQ(dtype("token_embd.weight"), RC_DTYPE_Q8_0);
  EXPECT_EQ(dtype("blk.1.ffn_down_exps.weight"), RC_DTYPE_Q8_0);
  EXPECT_EQ(dtype("blk.1.ffn_gate_inp.weight"), RC_DTYPE_F16);
  EXPECT_EQ(dtype("blk.1.attn_norm.weight"), RC_DTYPE_F32);
  const gguf::Tensor& before = *folder->find_tensor("blk.0.attn_q.weight");
  const gguf::Tensor& after = *file->find_tensor("blk.0.attn_q.weight");
  ASSERT_EQ(after.shape, before.shape);
  std::vector<float> values(32 * 32);
  decode_row(before.dtype, folder->read(before).data(), values.data(), 32 * 32);
  std::vector<float> close(32 * 32);
  decode_row(RC_DTYPE_Q8_0, file->read(after).data(), close.data(), 32 * 32);
  for (size_t i = 0; i < values.size(); ++i) {
    float largest = 0.0f;
    for (size_t k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
      largest = std::max(largest, std::abs(values[k]));
    }
    ASSERT_NEAR(close[i], values[i], 0.55f * largest / 127.0f) << i;
  }
  // Converted again: to what it was made of, quantized weights stay.
  const auto again = converted(*gguf::File::open(target()), "F32");
  EXPECT_EQ(again->find_int("general.file_type"), 0);
  EXPECT_EQ(again->find_int("general.quantization_version"), 2);
  EXPECT_EQ(again->find_tensor("blk.0.attn_q.weight")->dtype, RC_DTYPE_Q8_0);
}

TEST_F(Convert, RowsThatAreNotWholeBlocksGetAnotherType) {
  // The rows have 32 elements.
  const auto file = converted(*open("llama"), "Q4_K");
  EXPECT_EQ(file->find_tensor("blk.0.attn_q.weight")->dtype, RC_DTYPE_Q5_0);
  EXPECT_EQ(file->find_int("general.file_type"), 14);
  EXPECT_EQ(file->find_int("general.quantization_version"), 2);
}

TEST_F(Convert, KeepsStateSpacesAndPositions) {
  const auto hybrid = converted(*open("granitemoehybrid"), "F16");
  EXPECT_EQ(hybrid->find_tensor("blk.0.ssm_in.weight")->dtype, RC_DTYPE_F16);
  EXPECT_EQ(hybrid->find_tensor("blk.0.ssm_out.weight")->dtype, RC_DTYPE_F16);
  for (const char* name :
       {"blk.0.ssm_conv1d.weight", "blk.0.ssm_a", "blk.0.ssm_norm.weight"}) {
    EXPECT_EQ(hybrid->find_tensor(name)->dtype, RC_DTYPE_F32) << name;
  }
  const auto encoder = converted(*open("bert"), "F16");
  EXPECT_EQ(encoder->find_tensor("token_embd.weight")->dtype, RC_DTYPE_F16);
  EXPECT_EQ(encoder->find_tensor("position_embd.weight")->dtype, RC_DTYPE_F32);
  EXPECT_EQ(encoder->find_tensor("token_types.weight")->dtype, RC_DTYPE_F32);
}

TEST_F(Convert, StopsWhenProgressReturnsFalse) {
  const auto folder = open("llama");
  double last = -1.0;
  convert_model(*folder, target(), {.progress = [&](double fraction) {
    EXPECT_GE(fraction, last);
    last = fraction;
    return true;
  }});
  EXPECT_EQ(last, 1.0);
  EXPECT_EQ(files_left(), 1u);
  std::filesystem::remove(target());
  for (const double stop : {0.0, 0.5}) {
    try {
      convert_model(*folder, target(), {.progress = [&](double fraction) {
        return fraction < stop;
      }});
      ADD_FAILURE() << "not stopped";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_CANCELLED);
    }
    EXPECT_EQ(files_left(), 0u);
  }
}

TEST_F(Convert, RefusesValuesBeyondF16) {
  gguf::Writer writer;
  const std::vector<float> values = {1.0f, -1e6f};
  writer.add("general.architecture", "llama");
  writer.add_tensor("x.weight", RC_DTYPE_F32, std::vector<int64_t>{1, 2},
                    values);
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  const auto file = gguf::File::from_memory(bytes, *bytes, "made");
  try {
    convert_model(*file, target(), {.type = "F16"});
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RC_E_UNSUPPORTED);
    EXPECT_NE(error.message().find("tensor 'x.weight' holds -1e+06"),
              std::string::npos)
        << error.message();
  }
  const Conversion wide = {.type = "BF16"};
  EXPECT_NO_THROW(convert_model(*file, target(), wide));
}

TEST(OpenModel, NamesTheFolderOfAPart) {
  for (const char* name : {"config.json", "model.safetensors"}) {
    const std::string path =
        (source_path("tests/golden/folders/qwen2") / name).string();
    try {
      open_model(path);
      ADD_FAILURE() << "opened " << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_FORMAT);
      EXPECT_NE(error.message().find("name the folder"), std::string::npos)
          << error.message();
    }
  }
}

TEST_F(Convert, TypesHaveNames) {
  for (const char* name : {"Q8_0", "bf16", "iq4_nl", "q4_k_m", "Q4_K"}) {
    EXPECT_NO_THROW(check_conversion({.type = name})) << name;
  }
  for (const char* name : {"Q8", "Q8_00", "I32", "IQ2_XXXS"}) {
    EXPECT_THROW(check_conversion({.type = name}), Error) << name;
  }
}

}  // namespace
}  // namespace rc

// Mixes, single types and importance in whole files.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "files/convert.h"
#include "files/gguf/writer.h"
#include "files/quantize/mixes.h"
#include "files/quantized_file.h"
#include "files/recoding.h"
#include "temporary.h"
#include "test_data.h"

namespace rc {
namespace {

using test::TemporaryFolder;

constexpr int kLayers = 16;
constexpr int64_t kPiece = Recoding::kPieceElements;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Quantize : public ::testing::Test {
 protected:
  // A model of 16 layers in names and shapes.
  void SetUp() override {
    gguf::Writer writer;
    writer.add("general.architecture", "llama");
    writer.add("llama.attention.head_count", uint32_t{8});
    writer.add("llama.attention.head_count_kv", uint32_t{2});
    unsigned bits = 1;
    const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
      int64_t count = 1;
      for (const int64_t size : shape) count *= size;
      std::vector<float>& values = values_.emplace_back();
      for (int64_t i = 0; i < count; ++i) {
        bits = bits * 1664525u + 1013904223u;
        values.push_back(static_cast<float>(bits >> 8) / 16777216.0f - 0.5f);
      }
      writer.add_tensor(name, RC_DTYPE_F32, shape, values);
    };
    values_.reserve(256);
    add("token_embd.weight", {4, 256});
    add("output.weight", {4, 256});
    add("output_norm.weight", {256});
    for (int i = 0; i < kLayers; ++i) {
      const std::string layer = "blk." + std::to_string(i) + ".";
      add(layer + "attn_norm.weight", {256});
      add(layer + "attn_q.weight", {2, 256});
      add(layer + "attn_v.weight", {2, 256});
      add(layer + "attn_output.weight", {2, 256});
      add(layer + "ffn_gate_inp.weight", {2, 256});
      add(layer + "ffn_down.weight", {2, 256});
      add(layer + "ffn_up_exps.weight", {3, 2, 256});
    }
    add("odd.weight", {3, 96});
    bytes_ = std::make_shared<std::vector<std::byte>>(writer.write_memory());
    file_ = gguf::File::from_memory(bytes_, *bytes_, "made");
  }

  std::string path(const char* name) const {
    return (folder_.path() / name).string();
  }
  std::shared_ptr<const gguf::File> made(const Conversion& conversion) const {
    convert_model(*file_, path("out.gguf"), conversion);
    return gguf::File::open(path("out.gguf"));
  }
  std::string failure(const Conversion& conversion, rc_status status) const {
    try {
      made(conversion);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), status) << error.message();
      EXPECT_FALSE(std::filesystem::exists(path("out.gguf")));
      return error.message();
    }
    ADD_FAILURE() << "not refused";
    return "";
  }
  static DType type(const gguf::File& file, const std::string& name) {
    return file.find_tensor(name)->dtype;
  }

  TemporaryFolder folder_;
  std::vector<std::vector<float>> values_;
  std::shared_ptr<std::vector<std::byte>> bytes_;
  std::shared_ptr<const gguf::File> file_;
};

TEST_F(Quantize, MixChoosesTheTypeOfEachTensor) {
  const auto file = made({.type = "q4_k_m", .requantizes = true});
  EXPECT_EQ(file->find_int("general.file_type"), 15);
  EXPECT_EQ(file->find_int("general.quantization_version"), 2);
  EXPECT_EQ(type(*file, "token_embd.weight"), RC_DTYPE_Q4_K);
  EXPECT_EQ(type(*file, "output.weight"), RC_DTYPE_Q6_K);
  EXPECT_EQ(type(*file, "blk.3.attn_q.weight"), RC_DTYPE_Q4_K);
  EXPECT_EQ(type(*file, "blk.3.attn_norm.weight"), RC_DTYPE_F32);
  EXPECT_EQ(type(*file, "blk.3.ffn_gate_inp.weight"), RC_DTYPE_F32);
  // No multiple of 256.
  EXPECT_EQ(type(*file, "odd.weight"), RC_DTYPE_Q5_0);
  // The first and the last eighth, and every third between.
  std::string more;
  for (int i = 0; i < kLayers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    const DType down = type(*file, layer + "ffn_down.weight");
    EXPECT_EQ(type(*file, layer + "attn_v.weight"), down);
    more += down == RC_DTYPE_Q6_K ? '6' : down == RC_DTYPE_Q4_K ? '4' : '?';
  }
  EXPECT_EQ(more, "6644644644644666");
}

TEST_F(Quantize, MixesAreFoundByName) {
  struct Case {
    const char* mix;
    DType v, output, first_down, down;
  };
  for (const Case& each : {Case{"Q2_K", RC_DTYPE_Q4_K, RC_DTYPE_Q3_K,
                                RC_DTYPE_Q3_K, RC_DTYPE_Q3_K},
                           Case{"Q2_K_S", RC_DTYPE_Q4_K, RC_DTYPE_Q2_K,
                                RC_DTYPE_Q4_K, RC_DTYPE_Q2_K},
                           Case{"Q3_K_M", RC_DTYPE_Q4_K, RC_DTYPE_Q4_K,
                                RC_DTYPE_Q5_K, RC_DTYPE_Q4_K},
                           Case{"Q4_K_S", RC_DTYPE_Q4_K, RC_DTYPE_Q4_K,
                                RC_DTYPE_Q5_K, RC_DTYPE_Q4_K},
                           Case{"Q5_K_M", RC_DTYPE_Q5_K, RC_DTYPE_Q5_K,
                                RC_DTYPE_Q6_K, RC_DTYPE_Q5_K},
                           Case{"IQ4_XS", RC_DTYPE_Q5_K, RC_DTYPE_IQ4_XS,
                                RC_DTYPE_Q5_K, RC_DTYPE_IQ4_XS},
                           Case{"IQ3_M", RC_DTYPE_Q4_K, RC_DTYPE_Q4_K,
                                RC_DTYPE_Q4_K, RC_DTYPE_IQ3_S},
                           Case{"IQ3_S", RC_DTYPE_Q4_K, RC_DTYPE_IQ3_S,
                                RC_DTYPE_IQ3_S, RC_DTYPE_IQ3_S},
                           Case{"NVFP4", RC_DTYPE_NVFP4, RC_DTYPE_NVFP4,
                                RC_DTYPE_NVFP4, RC_DTYPE_NVFP4},
                           Case{"Q8_0", RC_DTYPE_Q8_0, RC_DTYPE_Q8_0,
                                RC_DTYPE_Q8_0, RC_DTYPE_Q8_0},
                           Case{"Q4_K", RC_DTYPE_Q4_K, RC_DTYPE_Q4_K,
                                RC_DTYPE_Q4_K, RC_DTYPE_Q4_K}}) {
    const auto file = made({.type = each.mix});
    EXPECT_EQ(type(*file, "blk.5.attn_v.weight"), each.v) << each.mix;
    EXPECT_EQ(type(*file, "blk.5.attn_output.weight"), each.output) << each.mix;
    EXPECT_EQ(type(*file, "blk.0.ffn_down.weight"), each.first_down)
        << each.mix;
    EXPECT_EQ(type(*file, "blk.5.ffn_down.weight"), each.down) << each.mix;
  }
}

TEST_F(Quantize, BytesDoNotDependOnThreads) {
  std::string first;
  for (const int threads : {1, 2, 5}) {
    made({.type = "Q4_K_M", .threads = threads});
    const std::string now = content_of(path("out.gguf"));
    if (first.empty()) first = now;
    EXPECT_TRUE(now == first) << threads << " threads";
  }
}

TEST_F(Quantize, TypesOfSingleTensorsCanBeSet) {
  const auto file = made({.type = "Q4_K",
                          .tensors = {"blk\\.[01]\\..*_down=q8_0",
                                      "ffn_down=Q6_K", "ffn_gate_inp=F16"}});
  EXPECT_EQ(type(*file, "blk.0.ffn_down.weight"), RC_DTYPE_Q8_0);
  EXPECT_EQ(type(*file, "blk.2.ffn_down.weight"), RC_DTYPE_Q6_K);
  EXPECT_EQ(type(*file, "blk.2.attn_q.weight"), RC_DTYPE_Q4_K);
  EXPECT_EQ(type(*file, "blk.2.ffn_gate_inp.weight"), RC_DTYPE_F16);
  std::filesystem::remove(path("out.gguf"));
  const auto says = [&](const char* override, rc_status status) {
    return failure({.type = "Q4_K", .tensors = {override}}, status);
  };
  EXPECT_NE(says("odd=Q6_K", RC_E_INVALID_ARGUMENT).find("rows of 96"),
            std::string::npos);
  EXPECT_NE(says("none=Q6_K", RC_E_INVALID_ARGUMENT).find("no tensor"),
            std::string::npos);
  EXPECT_NE(says("ffn_down", RC_E_INVALID_ARGUMENT).find("REGEX=TYPE"),
            std::string::npos);
  EXPECT_NE(says("(=Q6_K", RC_E_INVALID_ARGUMENT).find("at byte 1"),
            std::string::npos);
  EXPECT_NE(says("x=Q4_K_M", RC_E_INVALID_ARGUMENT).find("not a mix"),
            std::string::npos);
  says("x=Q8_1", RC_E_UNSUPPORTED);
  EXPECT_NE(says("(.?.?.?.?)+(.?.?.?.?)+(\\w*)*$^=Q6_K", RC_E_INVALID_ARGUMENT)
                .find("too long"),
            std::string::npos);
}

TEST_F(Quantize, RequantizesOnlyToSmallerTypes) {
  made({.type = "Q8_0"});
  const auto eight = gguf::File::open(path("out.gguf"));
  convert_model(*eight, path("small.gguf"),
                {.type = "Q4_K", .requantizes = true});
  const auto small = gguf::File::open(path("small.gguf"));
  EXPECT_EQ(type(*small, "blk.0.attn_q.weight"), RC_DTYPE_Q4_K);
  convert_model(*small, path("large.gguf"),
                {.type = "Q8_0", .requantizes = true});
  EXPECT_EQ(type(*gguf::File::open(path("large.gguf")), "blk.0.attn_q.weight"),
            RC_DTYPE_Q4_K);
}

TEST_F(Quantize, CancelLeavesNoFile) {
  for (const double stop : {0.0, 0.4}) {
    failure({.type = "Q4_K_M",
             .threads = 2,
             .progress = [&](double fraction) { return fraction < stop; }},
            RC_E_CANCELLED);
  }
}

TEST_F(Quantize, RefusesValuesBeyondTheType) {
  gguf::Writer writer;
  writer.add("general.architecture", "llama");
  std::vector<float> values(512, 1.0f);
  values[300] = NAN;
  writer.add_tensor("x.weight", RC_DTYPE_F32, std::vector<int64_t>{2, 256},
                    values);
  bytes_ = std::make_shared<std::vector<std::byte>>(writer.write_memory());
  file_ = gguf::File::from_memory(bytes_, *bytes_, "made");
  for (const char* name : {"Q4_0", "Q4_K_M", "TQ1_0", "MXFP4"}) {
    EXPECT_NE(
        failure({.type = name}, RC_E_UNSUPPORTED).find("'x.weight' holds"),
        std::string::npos);
  }
}

// An importance in the older form.
std::string older(const std::vector<std::pair<std::string, int>>& entries) {
  std::string bytes;
  const auto put = [&](int32_t value) {
    bytes.append(reinterpret_cast<const char*>(&value), 4);
  };
  put(static_cast<int32_t>(entries.size()));
  for (const auto& [name, count] : entries) {
    put(static_cast<int32_t>(name.size()));
    bytes += name;
    put(2);
    put(count);
    for (int i = 0; i < count; ++i) {
      const float value = i % 5 == 0 ? 8.0f : 0.02f;
      bytes.append(reinterpret_cast<const char*>(&value), 4);
    }
  }
  put(7);
  put(4);
  return bytes + "text";
}

TEST_F(Quantize, ImportanceIsUsedAndRecorded) {
  std::ofstream(path("i.dat"), std::ios::binary) << older(
      {{"blk.0.attn_q.weight", 256}, {"blk.0.ffn_up_exps.weight", 768}});
  const auto plain = made({.type = "Q4_K"});
  const auto before = plain->read(*plain->find_tensor("blk.0.attn_q.weight"));
  const auto experts =
      plain->read(*plain->find_tensor("blk.0.ffn_up_exps.weight"));
  const auto others = plain->read(*plain->find_tensor("blk.1.attn_q.weight"));
  const auto file = made({.type = "Q4_K", .importance = path("i.dat")});
  EXPECT_NE(file->read(*file->find_tensor("blk.0.attn_q.weight")), before);
  EXPECT_NE(file->read(*file->find_tensor("blk.0.ffn_up_exps.weight")),
            experts);
  EXPECT_EQ(file->read(*file->find_tensor("blk.1.attn_q.weight")), others);
  EXPECT_EQ(file->find_string("quantize.imatrix.file"), path("i.dat"));
  EXPECT_EQ(file->find_string("quantize.imatrix.dataset"), "text");
  EXPECT_EQ(file->find_int("quantize.imatrix.entries_count"), 2);
  EXPECT_EQ(file->find_int("quantize.imatrix.chunks_count"), 7);
  std::filesystem::remove(path("out.gguf"));
  std::ofstream(path("wrong.dat"), std::ios::binary)
      << older({{"blk.0.attn_q.weight", 255}});
  const std::string message =
      failure({.type = "Q4_K", .importance = path("wrong.dat")}, RC_E_FORMAT);
  EXPECT_NE(message.find("'blk.0.attn_q.weight' has 255"), std::string::npos)
      << message;
  std::ofstream(path("other.dat"), std::ios::binary) << older({{"a", 4}});
  failure({.type = "Q4_K", .importance = path("other.dat")}, RC_E_FORMAT);
}

TEST_F(Quantize, TypesOfFewBitsNeedAnImportance) {
  for (const char* mix : {"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S",
                          "IQ2_M", "IQ3_XXS", "IQ3_XS"}) {
    const std::string message = failure({.type = mix}, RC_E_INVALID_ARGUMENT);
    EXPECT_NE(message.find("only with an importance"), std::string::npos)
        << message;
    EXPECT_THROW(quantized_file(file_, mix), Error);
  }
  std::vector<std::pair<std::string, int>> sizes;
  for (const gguf::Tensor& tensor : file_->tensors()) {
    if (tensor.name.starts_with("blk.") && tensor.shape.size() > 1) {
      sizes.emplace_back(tensor.name, 256);
    }
  }
  std::ofstream(path("i.dat"), std::ios::binary) << older(sizes);
  struct Case {
    const char* mix;
    DType embedding, q, v, output, up;
  };
  for (const Case& each :
       {Case{"IQ1_S", RC_DTYPE_Q2_K, RC_DTYPE_IQ1_S, RC_DTYPE_Q4_K,
             RC_DTYPE_IQ2_XXS, RC_DTYPE_IQ1_S},
        Case{"IQ1_M", RC_DTYPE_Q2_K, RC_DTYPE_IQ1_M, RC_DTYPE_Q4_K,
             RC_DTYPE_IQ2_XXS, RC_DTYPE_IQ1_M},
        Case{"IQ2_XXS", RC_DTYPE_Q2_K, RC_DTYPE_IQ2_XXS, RC_DTYPE_Q4_K,
             RC_DTYPE_IQ2_XXS, RC_DTYPE_IQ2_XXS},
        Case{"IQ2_M", RC_DTYPE_IQ3_S, RC_DTYPE_IQ2_S, RC_DTYPE_Q4_K,
             RC_DTYPE_IQ3_S, RC_DTYPE_IQ2_S},
        Case{"IQ3_XXS", RC_DTYPE_IQ3_S, RC_DTYPE_IQ2_S, RC_DTYPE_Q4_K,
             RC_DTYPE_IQ3_S, RC_DTYPE_IQ3_XXS},
        Case{"IQ3_XS", RC_DTYPE_IQ3_S, RC_DTYPE_IQ3_XXS, RC_DTYPE_Q4_K,
             RC_DTYPE_IQ3_S, RC_DTYPE_IQ3_XXS}}) {
    const auto file = made({.type = each.mix, .importance = path("i.dat")});
    EXPECT_EQ(type(*file, "token_embd.weight"), each.embedding) << each.mix;
    EXPECT_EQ(type(*file, "blk.5.attn_q.weight"), each.q) << each.mix;
    EXPECT_EQ(type(*file, "blk.5.attn_v.weight"), each.v) << each.mix;
    EXPECT_EQ(type(*file, "blk.5.attn_output.weight"), each.output) << each.mix;
    EXPECT_EQ(type(*file, "blk.5.ffn_up_exps.weight"), each.up) << each.mix;
  }
}

TEST_F(Quantize, QuantizedFileEqualsTheWrittenOne) {
  for (const char* type : {"Q4_K_M", "q3_k_s", "TQ1_0", "IQ3_S", "F16"}) {
    const auto written = made({.type = type, .requantizes = true});
    const auto shown = quantized_file(file_, type);
    ASSERT_EQ(shown->size(), written->size());
    ASSERT_EQ(shown->entries().size(), written->entries().size());
    for (const gguf::Entry& entry : written->entries()) {
      const gguf::Entry* other = shown->find(entry.key);
      ASSERT_NE(other, nullptr) << entry.key;
      EXPECT_TRUE(std::ranges::equal(entry.bytes, other->bytes)) << entry.key;
    }
    for (size_t i = 0; i < written->tensors().size(); ++i) {
      const gguf::Tensor& tensor = written->tensors()[i];
      const gguf::Tensor& other = shown->tensors()[i];
      ASSERT_EQ(other.name, tensor.name);
      ASSERT_EQ(other.dtype, tensor.dtype) << tensor.name;
      ASSERT_EQ(other.offset, tensor.offset) << tensor.name;
      const auto bytes = written->read(tensor);
      EXPECT_EQ(shown->read(other), bytes) << tensor.name;
      // Any part of it.
      const size_t from = bytes.size() / 3, size = bytes.size() / 2;
      std::vector<std::byte> part(size);
      shown->read(other, from, part);
      EXPECT_TRUE(
          std::ranges::equal(part, std::span(bytes).subspan(from, size)))
          << tensor.name;
    }
  }
  EXPECT_EQ(quantized_file(file_, "Q8_0")->identity(), nullptr);
}

// A block of one type may hold many of the other, and pieces are larger than
// tensors above.
TEST_F(Quantize, QuantizedWeightsAreConvertedToAnotherType) {
  gguf::Writer writer;
  writer.add("general.architecture", "llama");
  std::vector<float> values(static_cast<size_t>(5 * kPiece / 2));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * 7919 % 1009) / 1009.0f - 0.5f;
  }
  writer.add_tensor("blk.0.ffn_up.weight", RC_DTYPE_Q8_0,
                    std::array<int64_t, 2>{kPiece / 512, 5 * 256}, values);
  writer.write_file(path("in.gguf"));
  const auto file = gguf::File::open(path("in.gguf"));
  for (const char* type : {"Q4_K", "Q4_0"}) {
    convert_model(*file, path("out.gguf"), {.type = type, .requantizes = true});
    const auto written = gguf::File::open(path("out.gguf"));
    const auto shown = quantized_file(file, type);
    const auto bytes = written->read(written->tensors()[0]);
    EXPECT_EQ(shown->read(shown->tensors()[0]), bytes);
    std::vector<std::byte> part(bytes.size() - 200);
    shown->read(shown->tensors()[0], 101, part);
    EXPECT_TRUE(
        std::ranges::equal(part, std::span(bytes).subspan(101, part.size())));
    EXPECT_NE(*shown->identity(), *file->identity());
    EXPECT_EQ(*shown->identity(), *quantized_file(file, type)->identity());
    EXPECT_FALSE(shown->mappable());
  }
}

}  // namespace
}  // namespace rc

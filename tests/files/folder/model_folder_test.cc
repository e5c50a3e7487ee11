// Folders as files that the engine knows.
#include "files/folder/model_folder.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <random>

#include "files/folder/folder_util.h"
#include "files/gguf/verify.h"
#include "files/gguf/writer.h"
#include "test_data.h"

namespace rc::folder {
namespace {

using test::FolderTest;

// Any part of any tensor is that part of all of it.
TEST_F(FolderTest, TensorsAreReadInAnyPart) {
  std::mt19937 random(1);
  for (const char* name : {"bert", "falcon", "gemma3", "glm4_moe", "gpt2",
                           "gpt_oss", "granitemoehybrid", "llama", "mixtral"}) {
    copy(name);
    const auto file = open();
    for (const gguf::Tensor& tensor : file->tensors()) {
      const std::vector<std::byte> all = file->read(tensor);
      for (int i = 0; i < 8; ++i) {
        const uint64_t offset = random() % tensor.bytes;
        std::vector<std::byte> part(1 + random() % (tensor.bytes - offset));
        file->read(tensor, offset, part);
        ASSERT_TRUE(std::equal(part.begin(), part.end(),
                               all.begin() + static_cast<ptrdiff_t>(offset)))
            << name << " " << tensor.name << " at " << offset << ", "
            << part.size();
      }
    }
    EXPECT_NO_THROW(gguf::verify(*file));
  }
}

// A folder can be written as a file with the same content.
TEST_F(FolderTest, CanBeWrittenAsAFile) {
  copy("gpt_oss");
  const auto file = open();
  gguf::Writer writer;
  for (const gguf::Entry& entry : file->entries()) writer.add(entry);
  for (const gguf::Tensor& tensor : file->tensors()) {
    writer.add_tensor(tensor.name, tensor.dtype, tensor.shape,
                      [&](const auto& put) { put(file->read(tensor)); });
  }
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  EXPECT_EQ(bytes->size(), file->size());
  const auto written = gguf::File::from_memory(bytes, *bytes, "written");
  ASSERT_EQ(written->tensors().size(), file->tensors().size());
  for (const gguf::Tensor& tensor : file->tensors()) {
    EXPECT_EQ(written->read(*written->find_tensor(tensor.name)),
              file->read(tensor));
  }
}

TEST_F(FolderTest, NoticesChangedFiles) {
  copy("llama");
  const auto file = open();
  EXPECT_NO_THROW(file->check_unchanged());
  EXPECT_EQ(*open()->identity(), *file->identity());
  const auto shard = path("model-00002-of-00004.safetensors");
  std::filesystem::last_write_time(
      shard, std::filesystem::last_write_time(shard) + std::chrono::hours(1));
  EXPECT_THROW(file->check_unchanged(), Error);
  EXPECT_NE(*open()->identity(), *file->identity());
}

TEST_F(FolderTest, MissingFilesAreNamed) {
  copy("llama");
  std::filesystem::remove(path("model-00002-of-00004.safetensors"));
  expect_refused(RC_E_NOT_FOUND,
                 "model-00002-of-00004.safetensors: no such file");
  copy("llama");
  std::filesystem::remove(path("model.safetensors.index.json"));
  expect_refused(RC_E_NOT_FOUND, "neither model.safetensors nor");
  std::filesystem::remove(path("config.json"));
  expect_refused(RC_E_IO, "is a directory without config.json");
}

TEST_F(FolderTest, PathsOutsideOfTheFolderAreRefused) {
  copy("llama");
  const auto shard = path("model-00002-of-00004.safetensors");
  std::filesystem::rename(shard, path().parent_path() / "elsewhere");
  std::filesystem::create_symlink("../elsewhere", shard);
  expect_refused(RC_E_FORMAT,
                 "model-00002-of-00004.safetensors: it is a link out of the "
                 "folder");
  for (const char* name :
       {"../elsewhere", "/etc/passwd", "sub/elsewhere", "..", ".", ""}) {
    write("model.safetensors.index.json",
          cat(R"({"weight_map": {"a": ")", name, "\"}}"));
    expect_refused(RC_E_FORMAT, cat("'", name, "' is not the name of a file"));
  }
  // Within it a link is as good as a file.
  copy("llama");
  std::filesystem::rename(shard, path("elsewhere"));
  std::filesystem::create_symlink("elsewhere", shard);
  EXPECT_NO_THROW(open());
}

// The hub's own cache has links from revisions to files by their hashes.
TEST_F(FolderTest, RevisionOfTheHubCacheCanBeOpened) {
  copy("qwen2");
  const auto root = path().parent_path() / "models--someone--small";
  std::filesystem::create_directories(root / "snapshots");
  std::filesystem::rename(path(), root / "snapshots/0123abcd");
  std::filesystem::create_directories(root / "blobs");
  for (const char* name : {"config.json", "model.safetensors"}) {
    const auto link = root / "snapshots/0123abcd" / name;
    std::filesystem::rename(link, root / "blobs" / name);
    std::filesystem::create_symlink(cat("../../blobs/", name), link);
  }
  EXPECT_NO_THROW(open_folder((root / "snapshots/0123abcd").string()));
  EXPECT_NO_THROW(open_folder((root / "snapshots/0123abcd/").string()));
}

TEST_F(FolderTest, InvalidFilesAreRefused) {
  copy("qwen2");
  std::filesystem::remove(path("model.safetensors"));
  std::filesystem::create_directory(path("model.safetensors"));
  expect_refused(RC_E_IO, "model.safetensors: is a directory");
  copy("qwen2");
  write("config.json", "");
  expect_refused(RC_E_FORMAT, "config.json: the file is empty");
  write("config.json", std::string((4u << 20) + 1, ' '));
  expect_refused(RC_E_FORMAT, "at most 4194304 are possible");
  write("config.json", "[]");
  expect_refused(RC_E_FORMAT, "config.json: it is an array, not an object");
  write("config.json", "{");
  expect_refused(RC_E_FORMAT, "config.json: not JSON");
  write("config.json", "\xFF");
  expect_refused(RC_E_FORMAT, "config.json: it is no UTF-8");
  write("config.json", std::string(100000, '['));
  expect_refused(RC_E_FORMAT, "config.json: values nest deeper");
}

// Tensors that are not those of the configuration.
TEST_F(FolderTest, TensorsMustFitTheConfiguration) {
  copy("qwen2");
  change("config.json", R"({"num_hidden_layers": 1})");
  expect_refused(RC_E_UNSUPPORTED, "tensor 'blk.1.");
  change("config.json", R"({"num_hidden_layers": 3})");
  expect_refused(RC_E_FORMAT, "tensor blk.2.");
  change("config.json", R"({"num_hidden_layers": 2, "vocab_size": 65})");
  expect_refused(RC_E_FORMAT, "qwen2.vocab_size is 65");
  copy("llama");
  change("config.json", R"({"num_attention_heads": 3, "head_dim": 8})");
  expect_refused(RC_E_FORMAT,
                 "q_proj.weight' has shape [32, 32], which is "
                 "not pairs of rows for each of 3 heads");
  copy("mixtral");
  change("config.json", R"({"num_local_experts": 3})");
  expect_refused(RC_E_FORMAT, "ffn_");
  copy("qwen2");
  change("config.json", R"({"tie_word_embeddings": false})");
  expect_refused(RC_E_FORMAT, "no tensor is output.weight");
}

TEST_F(FolderTest, UnknownTensorsAreNamed) {
  copy("qwen2");
  write("model.safetensors",
        safetensors::test::file_bytes(
            R"({"model.layers.0.self_attn.new.weight": {"dtype": "F32",
                "shape": [1], "data_offsets": [0, 4]}})",
            4));
  expect_refused(RC_E_UNSUPPORTED, "model.layers.0.self_attn.new.weight");
  // Two names must not be one tensor.
  write("model.safetensors",
        safetensors::test::file_bytes(
            R"({"model.layers.00.input_layernorm.weight": {"dtype": "F32",
                "shape": [1], "data_offsets": [0, 4]}})",
            4));
  expect_refused(RC_E_UNSUPPORTED, "model.layers.00.input_layernorm.weight");
  write("model.safetensors", safetensors::test::file_bytes(
                                 R"({"model.norm.weight": {"dtype": "F8_E4M3",
                "shape": [4], "data_offsets": [0, 4]}})",
                                 4));
  expect_refused(RC_E_UNSUPPORTED,
                 "tensor 'model.norm.weight' is of type F8_E4M3");
  for (const char* shape : {"[]", "[0]", "[1,1,1,1,1]"}) {
    write("model.safetensors",
          safetensors::test::file_bytes(
              cat(R"({"model.norm.weight": {"dtype": "F32", "shape": )", shape,
                  R"(, "data_offsets": [0, )", shape[1] == '0' ? 0 : 4, "]}}"),
              shape[1] == '0' ? 0 : 4));
    expect_refused(RC_E_FORMAT, "1 to 4 dimensions without a 0");
  }
}

// Old folders of encoders have other names for norms.
TEST_F(FolderTest, NormsNamedGammaAndBetaAreRead) {
  copy("bert");
  const auto before = open();
  std::ifstream file(path("model.safetensors"), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  const auto replace = [&](std::string_view from, std::string_view to) {
    ASSERT_EQ(from.size(), to.size());
    for (size_t at = 0; (at = bytes.find(from, at)) != bytes.npos;) {
      bytes.replace(at, from.size(), to);
    }
  };
  replace("LayerNorm.weight\"", "LayerNorm.gamma\" ");
  replace("LayerNorm.bias", "LayerNorm.beta");
  write("model.safetensors", bytes);
  const auto after = open();
  for (const char* name :
       {"token_embd_norm.weight", "blk.0.attn_output_norm.bias",
        "blk.0.layer_output_norm.weight"}) {
    EXPECT_EQ(after->read(*after->find_tensor(name)),
              before->read(*before->find_tensor(name)));
  }
}

TEST_F(FolderTest, MissingExpertsAreNamed) {
  copy("mixtral");
  // All others of a shard would be missing, too: one with a lone expert.
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    if (entry.path().extension() == ".safetensors") {
      std::filesystem::remove(entry.path());
    }
  }
  const auto expert = [&](const char* number) {
    write("model.safetensors",
          safetensors::test::file_bytes(
              cat(R"({"lm_head.weight": {"dtype": "F32", "shape": [1],
                      "data_offsets": [0, 4]},
                      "model.layers.0.block_sparse_moe.experts.)",
                  number,
                  R"(.w1.weight": {"dtype": "F32", "shape": [1, 1],
                      "data_offsets": [4, 8]}})"),
              8));
  };
  expert("2");
  expect_refused(RC_E_FORMAT,
                 "expert 0 is missing for blk.0.ffn_gate_exps.weight");
  expert("4294967295");
  expect_refused(RC_E_FORMAT, "expert 0 is missing");
  expert("4294967296");
  expect_refused(RC_E_UNSUPPORTED, "experts.4294967296.w1.weight");
}

}  // namespace
}  // namespace rc::folder

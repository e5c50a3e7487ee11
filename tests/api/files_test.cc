// Files that are not there, not files, not readable or not whole.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

#include "api_util.h"
#include "files/gguf/file.h"
#include "files/gguf/writer.h"
#include "temporary.h"
#include "test_data.h"

namespace rc::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST(Files, MissingFilesAreNotFound) {
  const Backend backend = open_backend();
  for (const auto& open : openers(backend.get())) {
    EXPECT_FAILS(RC_E_NOT_FOUND, open("no/such/model.gguf"),
                 "no/such/model.gguf");
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, open(""), "path");
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT, open(nullptr), "path", "NULL");
  }
}

TEST(Files, FolderWithoutAModelIsRefused) {
  const Backend backend = open_backend();
  const TemporaryFolder folder;
  for (const auto& open : openers(backend.get())) {
    EXPECT_FAILS(RC_E_IO, open(folder.path().c_str()),
                 folder.path().string() + ": is a directory without");
  }
}

// All but its tokenizer can be had: there is no tokenizer.json.
TEST(Files, FolderWithAModelIsOpened) {
  const Backend backend = open_backend();
  const std::string path = source_path("tests/golden/folders/gpt_oss").string();
  int opened = 0;
  for (const auto& open : openers(backend.get())) {
    if (open(path.c_str()) == RC_OK) {
      ++opened;
    } else {
      EXPECT_STREQ(rc_error_message(),
                   (path + ": the file has no tokenizer").c_str());
    }
  }
  EXPECT_EQ(opened, 4);
}

TEST(Files, UnreadableFilesAreRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const Backend backend = open_backend();
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "locked.gguf";
  write_file(path, read_file(model_path()));
  std::filesystem::permissions(path, std::filesystem::perms::none);
  for (const auto& open : openers(backend.get())) {
    EXPECT_FAILS(RC_E_IO, open(path.c_str()), path.string());
  }
}

TEST(Files, TruncatedAndEmptyFilesAreRefused) {
  const Backend backend = open_backend();
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "cut.gguf";
  const std::string whole = read_file(model_path());
  for (const size_t length : {size_t{0}, size_t{3}, size_t{20}, size_t{500},
                              whole.size() / 2, whole.size() - 1}) {
    write_file(path, whole.substr(0, length));
    for (const auto& open : openers(backend.get())) {
      EXPECT_FAILS(RC_E_FORMAT, open(path.c_str()), path.string());
    }
  }
  // The backend is as good as ever.
  EXPECT_NE(load_model(backend.get()), nullptr);
}

TEST(Files, ValidFilesAreAccepted) {
  EXPECT_OK(rc_model_verify(model_path().c_str()));
}

// Tensors that would change the result and are not computed are an error.
TEST(Files, FilesWithUnknownTensorsAreRefused) {
  const auto file = gguf::File::open(model_path());
  gguf::Writer writer;
  for (const gguf::Entry& entry : file->entries()) writer.add(entry);
  for (const gguf::Tensor& tensor : file->tensors()) {
    writer.add_tensor(tensor.name, tensor.dtype, tensor.shape,
                      [&](const auto& put) { put(file->read(tensor)); });
  }
  const float one = 1.0f;
  writer.add_tensor("blk.0.attn_q_norm.weight", RC_DTYPE_F32,
                    std::array<int64_t, 1>{1}, std::span(&one, 1));
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "more.gguf").string();
  writer.write_file(path);
  const Backend backend = open_backend();
  rc_model* model = nullptr;
  const std::string name = "'blk.0.attn_q_norm.weight'";
  EXPECT_FAILS(RC_E_UNSUPPORTED, rc_model_verify(path.c_str()), path, name);
  EXPECT_FAILS(RC_E_UNSUPPORTED,
               rc_model_load(backend.get(), path.c_str(), nullptr, &model),
               path, name);
  EXPECT_FAILS(RC_E_UNSUPPORTED, try_plan(backend.get(), path.c_str(), nullptr),
               path, name);
}

// A limit on the size of files, for a while.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal_before_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_before_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_;
  void (*signal_before_)(int);
};

TEST(Files, EmptyNamesAreRefused) {
  const Backend backend = open_backend();
  const Model model = load_model(backend.get());
  const Session session = create_session(model.get());
  rc_session* restored = nullptr;
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_session_save(session.get(), ""),
               "path: empty");
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
               rc_session_restore(model.get(), "", nullptr, &restored),
               "path: empty");
  EXPECT_EQ(restored, nullptr);
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_plugin_load(""), "path: empty");
}

TEST(Files, FullDiskOnSaveIsReported) {
  const Backend backend = open_backend();
  const Model model = load_model(backend.get());
  const Session session = create_session(model.get());
  const std::string text = generate(session.get());
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "saved").string();
  write_file(path, "what was there before");
  {
    const FileSizeLimit limit(512);
    EXPECT_FAILS(RC_E_IO, rc_session_save(session.get(), path.c_str()), path);
  }
  // The old file is untouched, nothing else lies about, the session goes on.
  EXPECT_EQ(read_file(path), "what was there before");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()),
                          std::filesystem::directory_iterator()),
            1);
  EXPECT_OK(rc_session_save(session.get(), path.c_str()));
  rc_session* restored = nullptr;
  ASSERT_OK(rc_session_restore(model.get(), path.c_str(), nullptr, &restored));
  int64_t before = 0, after = 0;
  EXPECT_OK(rc_session_position(session.get(), &before));
  EXPECT_OK(rc_session_position(restored, &after));
  EXPECT_EQ(before, after);
  rc_session_release(restored);
  EXPECT_EQ(generate(session.get()), text);
}

TEST(Files, DamagedSavedSessionsAreRefused) {
  const Backend backend = open_backend();
  const Model model = load_model(backend.get());
  const Session session = create_session(model.get());
  generate(session.get());
  void* data = nullptr;
  size_t size = 0;
  ASSERT_OK(rc_session_save_memory(session.get(), &data, &size));
  const std::string saved(static_cast<char*>(data), size);
  rc_free(data);
  rc_session* restored = nullptr;
  for (size_t length = 0; length < size; length += 64) {
    const std::string cut = saved.substr(0, length);
    EXPECT_FAILS(RC_E_FORMAT,
                 rc_session_restore_memory(model.get(), cut.data(), cut.size(),
                                           nullptr, &restored));
    EXPECT_EQ(restored, nullptr);
  }
  // A model is no saved session.
  const std::string other = read_file(model_path());
  EXPECT_NE(rc_session_restore_memory(model.get(), other.data(), other.size(),
                                      nullptr, &restored),
            RC_OK);
  EXPECT_OK(rc_session_restore_memory(model.get(), saved.data(), saved.size(),
                                      nullptr, &restored));
  rc_session_release(restored);
}

}  // namespace
}  // namespace rc::test

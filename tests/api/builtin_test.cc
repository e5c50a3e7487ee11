// Models that come with Runcible, by paths "builtin:NAME".
#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "api_util.h"
#include "temporary.h"

namespace rc::test {
namespace {

// A value of RUNCIBLE_DATA, or none, for a while.
class DataVariable {
 public:
  explicit DataVariable(const char* value) {
    const char* before = std::getenv(kName);
    had_ = before != nullptr;
    if (had_) before_ = before;
    set(value);
  }
  ~DataVariable() { set(had_ ? before_.c_str() : nullptr); }
  DataVariable(const DataVariable&) = delete;
  DataVariable& operator=(const DataVariable&) = delete;

 private:
  static constexpr const char* kName = "RUNCIBLE_DATA";
  static void set(const char* value) {
    if (value != nullptr) {
      setenv(kName, value, 1);
    } else {
      unsetenv(kName);
    }
  }
  bool had_ = false;
  std::string before_;
};

void on_loaded(void* user, rc_status status, const char* message,
               rc_model* model) {
  auto* loaded = static_cast<Loaded*>(user);
  ++loaded->calls;
  loaded->status = status;
  loaded->message = message;
  loaded->model.reset(model);
}

// Loads on a separate loop and waits for the end.
Loaded load_async(rc_backend* backend, const char* path) {
  rc_loop* created = nullptr;
  EXPECT_OK(rc_loop_create(&created));
  const Loop loop(created);
  Loaded loaded;
  EXPECT_OK(rc_model_load_async(backend, path, nullptr, loop.get(), on_loaded,
                                &loaded));
  while (loaded.calls == 0) {
    EXPECT_OK(rc_loop_wait(loop.get(), 60000));
    EXPECT_OK(rc_loop_dispatch(loop.get(), 0, nullptr));
  }
  EXPECT_OK(rc_loop_close(loop.get()));
  return loaded;
}

TEST(Builtin, DataVariableComesFirst) {
  const Backend backend = open_backend();
  const TemporaryFolder folder;
  std::filesystem::copy_file(model_path(), folder.path() / "fable.gguf");
  const DataVariable variable(folder.path().c_str());
  for (const auto& open : openers(backend.get())) {
    EXPECT_OK(open("builtin:fable"));
  }
  // It is the file that was put there.
  rc_tokenizer* opened = nullptr;
  ASSERT_OK(rc_tokenizer_open("builtin:fable", &opened));
  const Tokenizer tokenizer(opened);
  rc_tokenizer_report report = RC_TOKENIZER_REPORT_INIT;
  EXPECT_OK(rc_tokenizer_describe(tokenizer.get(), &report));
  EXPECT_EQ(report.vocabulary, 272);

  const Loaded loaded = load_async(backend.get(), "builtin:fable");
  EXPECT_EQ(loaded.status, RC_OK) << loaded.message;
  EXPECT_NE(loaded.model, nullptr);
}

TEST(Builtin, MissingModelErrorListsEveryFolderAndARemedy) {
  const Backend backend = open_backend();
  const TemporaryFolder folder;
  const std::string here =
      std::filesystem::canonical("/proc/self/exe").parent_path();
  const std::string shared =
      (std::filesystem::path(here).parent_path() / "share/runcible").string();
  const DataVariable variable(folder.path().c_str());
  for (const auto& open : openers(backend.get())) {
    EXPECT_FAILS(RC_E_NOT_FOUND, open("builtin:no-such"), "builtin:no-such",
                 "no-such.gguf", "set RUNCIBLE_DATA", "install",
                 folder.path().string(), here, shared);
  }
  const Loaded loaded = load_async(backend.get(), "builtin:no-such");
  EXPECT_EQ(loaded.status, RC_E_NOT_FOUND);
  EXPECT_NE(loaded.message.find(folder.path().string()), std::string::npos);

  const DataVariable none(nullptr);
  EXPECT_FAILS(RC_E_NOT_FOUND, rc_model_verify("builtin:no-such"),
               "set RUNCIBLE_DATA (not set now)", here);
  // An impossible folder does not hide the others.
  const DataVariable impossible(std::string(5000, 'x').c_str());
  EXPECT_FAILS(RC_E_NOT_FOUND, rc_model_verify("builtin:no-such"),
               "set RUNCIBLE_DATA");
}

TEST(Builtin, UnusableFileIsNamed) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "fable.gguf");
  std::ofstream(folder.path() / "damaged.gguf") << "no model";
  const DataVariable variable(folder.path().c_str());
  EXPECT_FAILS(RC_E_IO, rc_model_verify("builtin:fable"),
               (folder.path() / "fable.gguf").string());
  EXPECT_FAILS(RC_E_FORMAT, rc_model_verify("builtin:damaged"),
               (folder.path() / "damaged.gguf").string());
}

TEST(Builtin, InvalidNamesAreRefused) {
  const Backend backend = open_backend();
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "data");
  std::filesystem::copy_file(model_path(), folder.path() / "fable.gguf");
  const DataVariable variable((folder.path() / "data").c_str());
  for (const std::string name : {"", "../fable", ".fable", "a b", "fa\nble"}) {
    const std::string path = "builtin:" + name;
    for (const auto& open : openers(backend.get())) {
      EXPECT_FAILS(RC_E_INVALID_ARGUMENT, open(path.c_str()), "builtin:", "./");
    }
    // Told at once.
    EXPECT_FAILS(RC_E_INVALID_ARGUMENT,
                 rc_model_load_async(backend.get(), path.c_str(), nullptr,
                                     nullptr, on_loaded, nullptr),
                 "builtin:");
  }
}

TEST(Builtin, BuiltinModelGeneratesFables) {
  const DataVariable variable(nullptr);  // found from the build folder
  EXPECT_OK(rc_model_verify("builtin:fable"));
  const Backend backend = open_backend("cpu");
  rc_model* loaded = nullptr;
  ASSERT_OK(rc_model_load(backend.get(), "builtin:fable", nullptr, &loaded));
  const Model model(loaded);
  for (const uint64_t seed : {1, 2, 3}) {
    const Session session = create_session(model.get());
    rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
    options.seed = seed;
    rc_generate_report report = RC_GENERATE_REPORT_INIT;
    char* returned = nullptr;
    size_t length = 0;
    ASSERT_OK(
        rc_generate(session.get(), &options, &returned, &length, &report));
    const std::string text(returned, length);
    rc_free(returned);
    // It comes to its own end, after some whole sentences.
    EXPECT_EQ(report.reason, RC_END_STOP) << text;
    EXPECT_GT(std::count(text.begin(), text.end(), '.'), 3) << text;
    EXPECT_NE(text.find(" the "), std::string::npos) << text;
  }
}

TEST(Builtin, FileWithThePrefixInItsNameIsOpenedByPath) {
  const TemporaryFolder folder;
  const DataVariable variable(folder.path().c_str());
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::copy_file(model_path(), folder.path() / "builtin:x");
  std::filesystem::current_path(folder.path());
  EXPECT_OK(rc_model_verify("./builtin:x"));
  EXPECT_FAILS(RC_E_NOT_FOUND, rc_model_verify("builtin:x"), "x.gguf");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace rc::test

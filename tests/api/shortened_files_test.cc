// Files that are cut short, or whose disk fails, while they are in use: every
// call ends with a status, and what was read before stays good.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>

#include "api_util.h"
#include "failing_disk.h"
#include "runtime/wrapped_plugin.h"
#include "temporary.h"

namespace rc::test {
namespace {

namespace fs = std::filesystem;

using Info = std::unique_ptr<rc_model_info, Release<rc_model_info_release>>;

class Shortened : public testing::Test {
 public:
  Shortened() { fs::copy_file(model_path(), path_); }
  // Truncates the file, as `cp` does first to a file that it overwrites.
  void cut() const { fs::resize_file(path_, 0); }
  const fs::path& path() const { return path_; }

 protected:
  Model load(rc_backend* backend, rc_model_options options) const {
    options.context_length = 64;
    rc_model* model = nullptr;
    EXPECT_OK(rc_model_load(backend, path_.c_str(), &options, &model));
    return Model(model);
  }
  static rc_model_options mapped(bool guarded) {
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.keep_mapped = 1;
    options.guard_mapped = guarded ? 1 : 0;
    return options;
  }
  static rc_status decode(rc_session* session) {
    const int32_t token = 1;
    const rc_status status = rc_session_append(session, &token, 1);
    return status != RC_OK ? status : rc_session_decode(session, 0);
  }

  // Returns all of the info of the file as text.
  static std::string everything(const rc_model_info* info) {
    std::string text;
    for (size_t i = 0; i < rc_model_info_metadata_count(info); ++i) {
      const char* key = nullptr;
      const char* type = nullptr;
      EXPECT_OK(rc_model_info_metadata(info, i, &key, &type));
      char* json = nullptr;
      EXPECT_OK(rc_model_info_value(info, key, 0, &json));
      text.append(key).append(type).append(json);
      rc_free(json);
    }
    for (size_t i = 0; i < rc_model_info_tensor_count(info); ++i) {
      rc_tensor_report report = RC_TENSOR_REPORT_INIT;
      EXPECT_OK(rc_model_info_tensor(info, i, &report));
      text.append(report.name).append(report.dtype_name);
    }
    return text;
  }
  static std::string everything(rc_model* model) {
    rc_model_info* info = nullptr;
    EXPECT_OK(rc_model_get_info(model, &info));
    return everything(Info(info).get());
  }

  TemporaryFolder folder_;
  const fs::path path_ = folder_.path() / "model.gguf";
};

TEST_F(Shortened, AfterOpeningInfoIsUnchanged) {
  rc_model_info* opened = nullptr;
  ASSERT_OK(rc_model_info_open(path_.c_str(), &opened));
  const Info info(opened);
  const std::string before = everything(opened);
  cut();
  EXPECT_EQ(everything(opened), before);
}

TEST_F(Shortened, AfterLoadingInfoAndTextAreUnchanged) {
  const Backend backend = open_backend("cpu");
  const Model model = load(backend.get(), RC_MODEL_OPTIONS_INIT);
  const std::string info = everything(model.get());
  const std::string text = generate(create_session(model.get()).get());
  cut();
  EXPECT_EQ(everything(model.get()), info);
  EXPECT_EQ(generate(create_session(model.get()).get()), text);
  rc_tokenizer* tokenizer = nullptr;
  EXPECT_OK(rc_model_get_tokenizer(model.get(), &tokenizer));
  rc_tokenizer_release(tokenizer);
}

// Truncates the file at any progress of a load.
TEST_F(Shortened, DuringLoadingIsAnError) {
  struct Cut {
    const Shortened* test;
    int left;
  };
  const Backend backend = open_backend("cpu");
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.progress = [](void* user, double) {
    auto& cut = *static_cast<Cut*>(user);
    if (cut.left-- == 0) cut.test->cut();
    return 0;
  };
  for (const int reports : {0, 1, 5}) {
    SCOPED_TRACE(reports);
    fs::copy_file(model_path(), path_, fs::copy_options::overwrite_existing);
    Cut cut{this, reports};
    options.progress_user = &cut;
    rc_model* model = nullptr;
    EXPECT_FAILS(RC_E_IO,
                 rc_model_load(backend.get(), path_.c_str(), &options, &model),
                 path_.string(), "tensor", "cut short");
    EXPECT_EQ(model, nullptr);
  }
}

TEST_F(Shortened, OverwritingDuringLoadingIsAnError) {
  const Backend backend = open_backend("cpu");
  fs::last_write_time(path_,
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.progress_user = this;
  options.progress = [](void* user, double fraction) {
    const auto& test = *static_cast<Shortened*>(user);
    if (fraction == 0.0) {
      fs::copy_file(model_path(), test.path(),
                    fs::copy_options::overwrite_existing);
    }
    return 0;
  };
  rc_model* model = nullptr;
  EXPECT_FAILS(RC_E_IO,
               rc_model_load(backend.get(), path_.c_str(), &options, &model),
               path_.string(), "written to");
}

TEST_F(Shortened, BetweenStepsOfAMappedModelIsAnError) {
  for (const bool guarded : {false, true}) {
    const Backend backend = open_backend("cpu");
    const Model model = load(backend.get(), mapped(guarded));
    const std::string info = everything(model.get());
    const Session session = create_session(model.get());
    EXPECT_OK(decode(session.get()));
    cut();
    EXPECT_FAILS(RC_E_IO, decode(session.get()), path_.string(), "to 0 bytes");
    EXPECT_EQ(everything(model.get()), info);
    EXPECT_FAILS(RC_E_IO, decode(session.get()), path_.string());
    fs::copy_file(model_path(), path_, fs::copy_options::overwrite_existing);
  }
}

// A device that cuts the file when a run begins, after the last look at it.
class InTheMiddleOfAStep : public Shortened {
 protected:
  InTheMiddleOfAStep() : state_(wrap_backend("cutting", "cpu")) {
    backend_ = open_backend("cutting");
  }
  ~InTheMiddleOfAStep() override { state_.on_run = {}; }

  // From now on.
  void cut_in_runs() {
    state_.on_run = [this](const rc_plugin_run&, char*,
                           const std::function<rc_status()>& inner) {
      cut();
      return inner();
    };
  }

  WrappedState& state_;
  Backend backend_;
};

TEST_F(InTheMiddleOfAStep, GuardedModelReportsAnError) {
  const Model model = load(backend_.get(), mapped(true));
  const std::string info = everything(model.get());
  const Session session = create_session(model.get());
  EXPECT_OK(decode(session.get()));
  cut_in_runs();
  EXPECT_FAILS(RC_E_IO, decode(session.get()), path_.string(),
               "could not be read");
  // The weights are gone, also if a file is there again.
  state_.on_run = {};
  fs::copy_file(model_path(), path_, fs::copy_options::overwrite_existing);
  EXPECT_FAILS(RC_E_IO, decode(session.get()), path_.string(),
               "could not be read");
  EXPECT_FAILS(RC_E_IO, decode(create_session(model.get()).get()));
  EXPECT_EQ(everything(model.get()), info);
  // Later loads do not share the damaged model.
  const Model again = load(backend_.get(), mapped(true));
  EXPECT_OK(decode(create_session(again.get()).get()));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(InTheMiddleOfAStep, UnguardedModelEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const Model model = load(backend_.get(), mapped(false));
        const Session session = create_session(model.get());
        cut_in_runs();
        decode(session.get());
      },
      testing::KilledBySignal(SIGBUS), "");
}
#endif

// Each read in turn fails, and all after it.
TEST_F(Shortened, FailingDiskIsReported) {
  const Backend backend = open_backend("cpu");
  const Model model = load(backend.get(), mapped(false));
  const Session session = create_session(model.get());
  EXPECT_OK(decode(session.get()));
  const std::string saved = (folder_.path() / "saved").string();
  ASSERT_OK(rc_session_save(session.get(), saved.c_str()));
  std::vector<std::function<rc_status(const char*)>> calls =
      openers(backend.get());
  const size_t models = calls.size();
  calls.emplace_back([&](const char* path) {
    rc_session* restored = nullptr;
    const rc_status status =
        rc_session_restore(model.get(), path, nullptr, &restored);
    rc_session_release(restored);
    return status;
  });
  for (size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    const std::string& path = i < models ? path_.string() : saved;
    int64_t reads = 0;
    for (;; ++reads) {
      const FailingDisk failing(reads);
      const rc_status status = calls[i](path.c_str());
      if (status == RC_OK) break;
      ASSERT_EQ(status, RC_E_IO) << rc_error_message();
      ASSERT_NE(std::string(rc_error_message()).find(path), std::string::npos)
          << rc_error_message();
    }
    EXPECT_GT(reads, 0);
  }
}

TEST_F(Shortened, SavedSessionIsRefused) {
  const Backend backend = open_backend("cpu");
  const Model model = load(backend.get(), RC_MODEL_OPTIONS_INIT);
  const Session session = create_session(model.get());
  generate(session.get());
  const std::string saved = (folder_.path() / "saved").string();
  ASSERT_OK(rc_session_save(session.get(), saved.c_str()));
  for (uintmax_t size = 0; size < fs::file_size(saved);
       size += 1 + fs::file_size(saved) / 50) {
    const std::string cut = (folder_.path() / "cut").string();
    fs::copy_file(saved, cut, fs::copy_options::overwrite_existing);
    fs::resize_file(cut, size);
    rc_session* restored = nullptr;
    EXPECT_FAILS(
        RC_E_FORMAT,
        rc_session_restore(model.get(), cut.c_str(), nullptr, &restored), cut);
  }
}

}  // namespace
}  // namespace rc::test

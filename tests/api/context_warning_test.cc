// More context than a model was trained for is a warning, wherever it is asked
// for.
#include <string>

#include "api_util.h"

namespace rc::test {
namespace {

class ContextWarning : public testing::Test {
 protected:
  ContextWarning() {
    rc_log_set(
        [](void* user, rc_log_level level, const char* message) {
          if (level == RC_LOG_WARNING) {
            static_cast<std::string*>(user)->append(message).append("\n");
          }
        },
        &log_, RC_LOG_WARNING);
    rc_model_report report = RC_MODEL_REPORT_INIT;
    EXPECT_OK(rc_model_describe(load_model(backend_.get()).get(), &report));
    trained_ = report.trained_context_length;
    log_.clear();
  }
  ~ContextWarning() override { rc_log_set(nullptr, nullptr, RC_LOG_WARNING); }

  Model load(int64_t context) const {
    rc_model_options options = RC_MODEL_OPTIONS_INIT;
    options.context_length = context;
    rc_model* model = nullptr;
    EXPECT_OK(
        rc_model_load(backend_.get(), model_path().c_str(), &options, &model));
    return Model(model);
  }
  // Says whether there was a warning since it was last asked, with the numbers.
  bool warned(int64_t context) {
    const bool all = log_.find("context of " + std::to_string(context) +
                               " tokens") != std::string::npos &&
                     log_.find("trained for " + std::to_string(trained_)) !=
                         std::string::npos;
    EXPECT_EQ(all, !log_.empty()) << log_;
    log_.clear();
    return all;
  }

  std::string log_;
  const Backend backend_ = open_backend();
  int64_t trained_ = 0;
};

TEST_F(ContextWarning, IsLoggedForModelsBeyondTheTrainedLength) {
  const Model fitting = load(trained_);
  EXPECT_FALSE(warned(trained_));
  const int64_t longer = trained_ + 1;
  const Model model = load(longer);
  EXPECT_TRUE(warned(longer));
  // Also of one that is resident already.
  const Model again = load(longer);
  EXPECT_TRUE(warned(longer));
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  options.context_length = longer;
  EXPECT_OK(try_plan(backend_.get(), model_path().c_str(), &options));
  EXPECT_TRUE(warned(longer));
}

TEST_F(ContextWarning, IsLoggedForSessionsBeyondTheTrainedLength) {
  const int64_t longer = trained_ + 1;
  const Model model = load(longer);
  log_.clear();
  rc_session_options options = RC_SESSION_OPTIONS_INIT;
  for (const int64_t context : {trained_, longer}) {
    options.context_length = context;
    rc_session* session = nullptr;
    EXPECT_OK(rc_session_create(model.get(), &options, &session));
    rc_session_release(session);
    EXPECT_EQ(warned(context), context == longer);
  }
  // The warning of the model was logged before.
  const Session session = create_session(model.get());
  EXPECT_FALSE(warned(longer));
}

}  // namespace
}  // namespace rc::test

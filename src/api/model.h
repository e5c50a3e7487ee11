// The handles of model files, tokenizers and models.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "api/handle.h"
#include "api/handle_account.h"
#include "engine/engine.h"
#include "engine/session_list.h"
#include "files/gguf/file.h"
#include "runcible/model.h"
#include "text/chat/template_choice.h"
#include "text/tokenizer.h"

struct rc_model_info {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kModelInfo;
  explicit rc_model_info(std::shared_ptr<const rc::gguf::File> file);

  const std::shared_ptr<const rc::gguf::File> file;
  // Terminated copies of what the file does not terminate, by entry and tensor.
  std::vector<std::string> keys;
  std::vector<std::string> types;
  std::vector<std::string> tensor_names;
};

struct rc_tokenizer {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kTokenizer;
  rc_tokenizer(std::shared_ptr<const rc::text::Tokenizer> tokenizer,
               const rc::gguf::File& file)
      : tokenizer(std::move(tokenizer)),
        kind(this->tokenizer->kind()),
        templates(file, this->tokenizer) {}

  const std::shared_ptr<const rc::text::Tokenizer> tokenizer;
  const std::string kind;
  const rc::text::chat::FileTemplates templates;
};

namespace rc::api {

// A loaded model on the account of a backend handle: what an rc_model, its
// sessions and their requests hold on to. The engine changes when the backend
// handle is switched.
class LoadedModel {
 public:
  // An engine, paid for.
  struct Resident {
    Resident(std::shared_ptr<HandleAccount> account,
             std::shared_ptr<engine::Engine> engine,
             HandleAccount::SetAside* from = nullptr);

    const std::shared_ptr<engine::Engine> engine;
    const HandleAccount::Charge charge;
    const std::string device;  // for reports
  };

  // `asked` is what the engine was loaded with, but for the account's limit.
  // The account knows it from then on. `slot` is its place among the models of
  // the tenant.
  static std::shared_ptr<LoadedModel> create(
      std::shared_ptr<HandleAccount> account,
      std::shared_ptr<const model::ModelFile> file,
      std::shared_ptr<engine::Engine> engine, engine::EngineOptions asked,
      std::unique_ptr<Tenant::Slot> slot);

  const std::shared_ptr<HandleAccount> account;
  const std::shared_ptr<const model::ModelFile> file;
  const uint64_t parameters;
  const engine::EngineOptions asked;

  // The one that is used now.
  std::shared_ptr<engine::Engine> engine() const;
  // The name of its device, which lives as long as this.
  const char* device() const;

  const std::shared_ptr<engine::SessionList>& sessions() const {
    return sessions_;
  }
  // A new session: function(engine) makes it.
  std::shared_ptr<engine::Session> make_session(
      const std::function<std::shared_ptr<engine::Session>(engine::Engine&)>&
          function) const;

  // Takes another engine; gives the one before. Under the lock of sessions().
  std::shared_ptr<const Resident> exchange(
      std::shared_ptr<const Resident> next) noexcept;

 private:
  LoadedModel(std::shared_ptr<HandleAccount> account,
              std::shared_ptr<const model::ModelFile> file,
              std::shared_ptr<const Resident> resident,
              engine::EngineOptions asked, std::unique_ptr<Tenant::Slot> slot);

  const std::unique_ptr<Tenant::Slot> slot_;
  const std::shared_ptr<engine::SessionList> sessions_ =
      std::make_shared<engine::SessionList>();
  mutable std::mutex mutex_;
  std::shared_ptr<const Resident> resident_;
  // Of the names of devices that were given out.
  mutable std::set<std::string> names_;
};

}  // namespace rc::api

struct rc_model {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kModel;
  explicit rc_model(std::shared_ptr<rc::api::LoadedModel> loaded)
      : loaded(std::move(loaded)) {}

  const std::shared_ptr<rc::api::LoadedModel> loaded;
};

namespace rc::api {

// The arguments of rc_model_load, checked and copied.
struct LoadRequest {
  LoadRequest(rc_backend* backend, const char* path,
              const rc_model_options* options);
  // Of a file in memory.
  LoadRequest(rc_backend* backend, std::shared_ptr<const gguf::File> file,
              const rc_model_options* options);
  // Without a file, which is to be set.
  LoadRequest(rc_backend* backend, const rc_model_options* options);

  // Takes the options of a caller in place of those it was made with.
  void take(const rc_model_options* asked);

  // `go_on` may be empty; loading stops with RC_E_CANCELLED when it says
  // false.
  std::unique_ptr<rc_model> load(const std::function<bool()>& go_on) const;
  std::shared_ptr<const model::ModelFile> open() const;
  // The options with what the account has left; good while the account lives.
  engine::EngineOptions limited_options() const {
    return account->limit(options);
  }

  runtime::DeviceChain chain;
  std::shared_ptr<HandleAccount> account;
  std::string path;  // may be "builtin:NAME"
  std::shared_ptr<const gguf::File>
      given;  // instead of a path, if there is one
  engine::EngineOptions options;
  std::optional<model::ForwardOutput> output;
  std::string quantize;  // a type or mix; empty: none
  rc_progress_callback progress;
  void* progress_user;
};

}  // namespace rc::api

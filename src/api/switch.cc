#include "api/switch.h"

#include <chrono>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/guard.h"
#include "api/options.h"
#include "api/progress.h"
#include "base/error.h"
#include "base/time_limit.h"
#include "engine/session_move.h"

namespace rc::api {
namespace {

constexpr rc_backend_switch_options kSwitchDefaults =
    RC_BACKEND_SWITCH_OPTIONS_INIT;
// Of the progress; the rest is loading.
constexpr double kOpening = 0.1;

}  // namespace

class SwitchRequest::Work {
 public:
  Work(const rc_backend_switch_options& options, const OpenRequest& open,
       rc_backend& backend, const std::function<bool()>& stopped)
      : options_(options),
        open_(open),
        backend_(backend),
        account_(backend.account),
        stopped_(stopped) {}

  void run() {
    opened_ = open_.open_device(account_, [this] { return !go_on(0); });
    const HandleAccount::SwitchAllowance leaving(account_);
    ask();
    load();
    wait();
    move();
  }

 private:
  // A model that moves, and what it is to have.
  struct Moving {
    std::shared_ptr<LoadedModel> model;
    std::shared_ptr<const LoadedModel::Resident> next;
  };

  bool go_on(double fraction) const {
    return !stopped() &&
           report_progress(options_.progress, options_.progress_user, fraction);
  }

  // Asks for the memory of all models before anything is done that takes time.
  void ask() {
    moving_ = account_->loaded_models();
    std::set<const engine::Engine*> asked;
    for (const auto& model : moving_) {
      // One that handles share is shared there, too.
      if (!asked.insert(model->engine().get()).second) continue;
      engine::Engine::reserve(
          *model->file, opened_->chain, account_->limit(model->asked),
          [&](const engine::Engine& there) { return account_->holds(there); },
          reserved_);
    }
    const runtime::Device& first = *opened_->chain.first();
    set_aside_.emplace(account_, reserved_.bytes(first), first.id());
  }

  void load() {
    const auto& all = moving_;
    for (size_t i = 0; i < all.size(); ++i) {
      const auto& model = all[i];
      const auto progress = [&](double fraction) {
        return go_on(kOpening + (1 - kOpening) *
                                    (static_cast<double>(i) + fraction) /
                                    static_cast<double>(all.size()));
      };
      const engine::EngineOptions limited =
          account_->limit(model->asked, &*set_aside_);
      std::shared_ptr<engine::Engine> engine = engine::Engine::load(
          model->file, opened_->chain, limited, progress,
          [&](const engine::Engine& there) { return account_->holds(there); });
      models_.push_back(
          {model, std::make_shared<const LoadedModel::Resident>(
                      account_, std::move(engine), &*set_aside_)});
    }
  }

  bool stopped() const { return stopped_ && stopped_(); }
  // Lets requests end where they began, as long as the caller asked for.
  void wait() const {
    if (options_.wait_ms == 0) return;
    std::optional<std::chrono::steady_clock::time_point> end;
    if (options_.wait_ms > 0) end = time_after(options_.wait_ms);
    for (const Moving& moving : models_) {
      moving.model->sessions()->wait_until_idle(end, stopped_);
      if (stopped()) {
        fail(RC_E_CANCELLED, "switching the backend was cancelled");
      }
    }
  }

  void move() {
    std::vector<engine::SessionMove::Model> leaving;
    for (const Moving& moving : models_) {
      const auto here = moving.model->engine();
      // An engine that both devices share, of the same device, goes on.
      if (moving.next->engine == here) continue;
      leaving.push_back({moving.model->sessions(), here, moving.next->engine});
    }
    engine::SessionMove sessions(std::move(leaving));
    sessions.copy([this] { return stopped(); });
    std::vector<std::shared_ptr<const LoadedModel::Resident>> residents;
    residents.reserve(models_.size());
    backend_.prepare_exchange();
    const std::shared_ptr<compute::Context> home = opened_->compute;
    engine::DeviceUsage device = {home->device()->id(),
                                  home->device()->is_gpu()};
    std::shared_ptr<OpenedDevice> before;
    sessions.run([&] {
      before = backend_.exchange(std::move(opened_));
      account_->set_home(*home, std::move(device));
      for (Moving& moving : models_) {
        residents.push_back(moving.model->exchange(std::move(moving.next)));
      }
    });
    before->compute->pool()->close();
  }

  const rc_backend_switch_options& options_;
  const OpenRequest& open_;
  rc_backend& backend_;
  const std::shared_ptr<HandleAccount> account_;
  const std::function<bool()>& stopped_;
  std::shared_ptr<OpenedDevice> opened_;
  std::vector<std::shared_ptr<LoadedModel>> moving_;  // all that are there
  // The memory that these will use, with the devices that were opened for it.
  model::ReservedMemory reserved_;
  std::optional<HandleAccount::SetAside> set_aside_;
  std::vector<Moving> models_;  // as far as they are loaded
};

SwitchRequest::SwitchRequest(rc_backend* backend, const char* spec,
                             const rc_backend_switch_options* options)
    : options_(read_options(options, kSwitchDefaults, "options")),
      open_(spec, need(backend, "backend").options) {}

void SwitchRequest::run(rc_backend& backend,
                        const std::function<bool()>& stopped) const {
  const std::unique_lock lock(backend.switching, std::try_to_lock);
  if (!lock.owns_lock()) {
    fail(RC_E_BUSY, "another switch of the backend is under way");
  }
  Work(options_, open_, backend, stopped).run();
}

}  // namespace rc::api

using rc::api::guard;

void rc_backend_switch_options_init(rc_backend_switch_options* options,
                                    size_t size) {
  rc::api::initialise(options, size, rc::api::kSwitchDefaults);
}

rc_status rc_backend_switch(rc_backend* backend, const char* spec,
                            const rc_backend_switch_options* options) {
  return guard([&] {
    const rc::api::SwitchRequest request(backend, spec, options);
    // The handle may be released by another thread meanwhile.
    const std::unique_ptr<rc_backend, decltype(&rc_backend_release)> held(
        rc_backend_retain(backend), rc_backend_release);
    if (held == nullptr) rc::api::need(backend, "backend");
    request.run(*held, {});
  });
}

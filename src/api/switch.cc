#include "api/switch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "api/guard.h"
#include "api/options.h"
#include "api/progress.h"
#include "base/error.h"
#include "base/time_limit.h"

namespace rc::api {
namespace {

using SwitchClock = std::chrono::steady_clock;

constexpr rc_backend_switch_options kSwitchDefaults =
    RC_BACKEND_SWITCH_OPTIONS_INIT;
// How often requests that are in flight are looked at.
constexpr std::chrono::milliseconds kBetweenLooks(1);
// Of the progress; the rest is loading.
constexpr double kOpening = 0.1;

engine::SessionOptions options_there(const engine::Session& session) {
  engine::SessionOptions options = session.options();
  // A session of the whole context of its model is one there too.
  if (options.context_length == session.engine()->options().context_length) {
    options.context_length = 0;
  }
  return options;
}

}  // namespace

class SwitchRequest::Work {
 public:
  Work(const rc_backend_switch_options& options, const OpenRequest& open,
       rc_backend& backend, const std::function<bool()>& stopped)
      : options_(options),
        open_(open),
        backend_(backend),
        tenant_(backend.tenant),
        stopped_(stopped) {}

  void run() {
    opened_ = open_.open_device(tenant_, [this] { return !go_on(0); });
    const Tenant::Leaving leaving(tenant_);
    ask();
    load();
    const Refusal refusal(models_);
    move();
    commit();
  }

 private:
  // A model that moves: what it is to have, and its sessions while they are
  // copied.
  struct Moving {
    std::shared_ptr<LoadedModel> model;
    std::shared_ptr<const LoadedModel::Resident> next;
    std::vector<engine::MovableSession::Move> sessions;
  };

  // Generations of some models are refused as long as it lives.
  class Refusal {
   public:
    explicit Refusal(const std::vector<Moving>& models) {
      for (const Moving& moving : models) {
        lists_.push_back(moving.model->sessions());
      }
      for (const auto& list : lists_) list->refuse(true);
    }
    ~Refusal() {
      for (const auto& list : lists_) list->refuse(false);
    }
    Refusal(const Refusal&) = delete;
    Refusal& operator=(const Refusal&) = delete;

   private:
    std::vector<std::shared_ptr<engine::SessionList>> lists_;
  };

  bool go_on(double fraction) const {
    return !(stopped_ && stopped_()) &&
           report_progress(options_.progress, options_.progress_user, fraction);
  }

  // Asks for the memory of all models before anything is done that takes time.
  void ask() {
    moving_ = tenant_->loaded_models();
    std::set<const engine::Engine*> asked;
    for (const auto& model : moving_) {
      // One that handles share is shared there, too.
      if (!asked.insert(model->engine().get()).second) continue;
      engine::Engine::promise(
          *model->file, opened_->chain, tenant_->limit(model->asked),
          [&](const engine::Engine& there) { return tenant_->holds(there); },
          promises_);
    }
    const runtime::Device& first = *opened_->chain.first();
    set_aside_.emplace(tenant_, promises_.bytes(first), first.id());
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
          tenant_->limit(model->asked, &*set_aside_);
      std::shared_ptr<engine::Engine> engine = engine::Engine::load(
          model->file, opened_->chain, limited, progress,
          [&](const engine::Engine& there) { return tenant_->holds(there); });
      models_.push_back({model,
                         std::make_shared<const LoadedModel::Resident>(
                             tenant_, std::move(engine), &*set_aside_),
                         {}});
    }
  }

  bool idle() const {
    for (const Moving& moving : models_) {
      for (const auto& session : moving.model->sessions()->sessions()) {
        if (!session->idle()) return false;
      }
    }
    return true;
  }

  // Waits until the sessions can be moved.
  void move() {
    const auto end = time_after(std::max<int64_t>(options_.wait_ms, 0));
    for (;;) {
      // Asked before the try: what is idle when the time is over moves, however
      // late that is seen.
      const bool late = options_.wait_ms >= 0 && SwitchClock::now() >= end;
      if (try_to_move()) return;
      if (stopped_ && stopped_()) {
        fail(RC_E_CANCELLED, "switching the backend was cancelled");
      }
      if (late) {
        fail(RC_E_BUSY, "requests were in flight on sessions of the backend ",
             options_.wait_ms == 0 ? std::string("when it was to be switched")
                                   : cat("for the ", options_.wait_ms,
                                         " ms that switching it waits"),
             "; cancel them, or wait longer (options->wait_ms)");
      }
      std::this_thread::sleep_for(kBetweenLooks);
    }
  }

  // Copies all sessions, which nobody else can use from then on. False:
  // requests are in flight.
  bool try_to_move() {
    if (!idle()) return false;
    list_locks_.clear();
    for (const Moving& moving : models_) {
      list_locks_.emplace_back(moving.model->sessions()->mutex());
    }
    try {
      for (Moving& moving : models_) move_sessions(moving);
      return true;
    } catch (const Error& error) {
      let_go();
      if (error.status() != RC_E_BUSY) throw;
      return false;
    } catch (...) {
      let_go();
      throw;
    }
  }

  void let_go() {
    for (Moving& moving : models_) moving.sessions.clear();
    list_locks_.clear();
  }

  void move_sessions(Moving& moving) {
    // An engine that both devices share, of the same device, goes on.
    if (moving.next->engine == moving.model->engine()) return;
    for (auto& session : moving.model->sessions()->sessions()) {
      moving.sessions.emplace_back(std::move(session));
      engine::MovableSession::Move& move = moving.sessions.back();
      const std::vector<std::byte> saved = move.save();
      const auto file = gguf::File::from_memory(
          nullptr, std::span<const std::byte>(saved), "a session on its way");
      move.prepare(moving.next->engine->restore_session(
          *file, options_there(move.session()), tenant_->meter()));
    }
  }

  void commit() {
    // What was there before goes when nothing is held any more.
    std::vector<std::shared_ptr<engine::Session>> sessions;
    std::vector<std::shared_ptr<const LoadedModel::Resident>> residents;
    size_t count = 0;
    for (const Moving& moving : models_) count += moving.sessions.size();
    sessions.reserve(count);
    residents.reserve(models_.size());
    backend_.prepare_exchange();
    const std::shared_ptr<compute::BufferPool> pool = opened_->compute->pool();
    // Nothing fails from here on.
    const auto before = backend_.exchange(std::move(opened_));
    tenant_->set_spare(pool);
    for (Moving& moving : models_) {
      residents.push_back(moving.model->exchange(std::move(moving.next)));
      for (auto& session : moving.sessions) {
        sessions.push_back(session.commit());
      }
    }
    list_locks_.clear();
    before->compute->pool()->close();
  }

  const rc_backend_switch_options& options_;
  const OpenRequest& open_;
  rc_backend& backend_;
  const std::shared_ptr<Tenant> tenant_;
  const std::function<bool()>& stopped_;
  std::shared_ptr<OpenedDevice> opened_;
  std::vector<std::shared_ptr<LoadedModel>> moving_;  // all that are there
  // What these will take, with the devices that were opened for it.
  model::Promises promises_;
  std::optional<Tenant::SetAside> set_aside_;
  std::vector<Moving> models_;  // as far as they are loaded
  std::vector<std::unique_lock<std::shared_mutex>> list_locks_;
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

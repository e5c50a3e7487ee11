#include "engine/session_move.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/log.h"
#include "engine/engine_handle.h"
#include "engine/session_tokens.h"

namespace rc::engine {
namespace {

// Held while engines wait for each other, which others must not do meanwhile.
std::mutex& holding() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

const EngineHandle& handle(const std::shared_ptr<Engine>& engine) {
  return static_cast<const EngineHandle&>(*engine);
}

// For how long an engine copies sessions before it takes its next step.
constexpr std::chrono::milliseconds kCopyingBetweenSteps(10);

void log_without_copy(const Error& error) {
  log(RC_LOG_INFO,
      "a session moves without what was evaluated of it: ", error.what());
}

// Whether its engine has only to forget it.
bool is_over(const SessionState& session) {
  return !session.open && session.jobs.empty();
}

const char* name_of(model::ForwardOutput output) {
  switch (output) {
    case model::ForwardOutput::kLogits:
      return "logits";
    case model::ForwardOutput::kHiddenRows:
      return "hidden rows";
    case model::ForwardOutput::kScores:
      return "scores";
  }
  return "";
}

// Throws RC_E_UNSUPPORTED if requests of one engine cannot go on on the other.
void check_same_model(const model::ModelFile& here,
                      const model::ModelFile& there) {
  if (here.fingerprint() != there.fingerprint()) {
    fail(RC_E_UNSUPPORTED, "the session is of ", here.file().name(),
         ", and it cannot move to another model, ", there.file().name());
  }
  if (here.output() != there.output()) {
    fail(RC_E_UNSUPPORTED, "the session cannot move to ", there.file().name(),
         " as it was loaded there, with another option `output`: ",
         name_of(there.output()), ", not ", name_of(here.output()));
  }
}

// As another engine lays it out. Throws what it cannot have.
SavedSession converted(const SavedSession& copy, const Engine& from,
                       const Engine& to, const model::CacheLayout& layout) {
  const std::vector<std::byte> bytes =
      session_writer(from.file(), copy).write_memory();
  const auto file = gguf::File::from_memory(
      nullptr, std::span<const std::byte>(bytes), "a session on its way");
  SavedSession result = read_session(*file, to.file(), layout,
                                     static_cast<int64_t>(copy.items.size()));
  result.variant = copy.variant;
  return result;
}

}  // namespace

// The first command for a session on its new engine.
class SessionMove::Arrival final : public Command {
 public:
  Arrival(std::shared_ptr<SessionState> session, SavedSession copy)
      : session_(std::move(session)), copy_(std::move(copy)) {}

  // Of the session when it leaves.
  void set_evaluated(int64_t evaluated) { evaluated_ = evaluated; }
  void execute(Core& core) noexcept override {
    core.receive(session_, evaluated_, copy_);
    delete this;
  }

 private:
  const std::shared_ptr<SessionState> session_;
  const SavedSession copy_;
  int64_t evaluated_ = 0;
};

struct SessionMove::Departure {
  std::shared_ptr<SessionState> session;
  std::shared_ptr<Engine> from;
  std::shared_ptr<Engine> to;
  SessionOptions options;
  std::unique_ptr<Arrival> arrival;
  Residence residence;  // with room for all pages
};

SessionMove::SessionMove(std::vector<Model> models)
    : models_(std::move(models)) {
  for (const Model& model : models_) {
    if (std::find(engines_.begin(), engines_.end(), model.from) ==
        engines_.end()) {
      engines_.push_back(model.from);
    }
  }
}

void SessionMove::copy(const std::function<bool()>& should_stop) {
  for (const Model& model : models_) {
    if (model.from == model.to) continue;
    std::vector<std::shared_ptr<SessionState>> sessions;
    {
      const std::lock_guard lock(model.sessions->mutex());
      sessions = sessions_of(model);
    }
    for (size_t copied = 0; copied < sessions.size();) {
      if (should_stop()) {
        fail(RC_E_CANCELLED, "moving the sessions was cancelled");
      }
      handle(model.from).core()->call([&](Core& core) {
        const Clock::time_point end = Clock::now() + kCopyingBetweenSteps;
        do {
          copy(core, sessions[copied++]);
        } while (copied < sessions.size() && Clock::now() < end);
      });
    }
    const model::CacheLayout& layout = handle(model.to).layout();
    for (const auto& session : sessions) {
      const auto found = copies_.find(session);
      if (found == copies_.end()) continue;
      SavedSession& copy = found->second;
      if (same_bytes(copy.layout, layout)) continue;
      try {
        copy = converted(copy, *model.from, *model.to, layout);
      } catch (const Error& error) {
        log_without_copy(error);
        copies_.erase(found);
      }
    }
  }
}

void SessionMove::copy(Core& core,
                       const std::shared_ptr<SessionState>& session) {
  // It may have moved on its own.
  if (!session->home->is_at(*core.commands())) return;
  if (is_over(*session) || session->residence.evaluated == 0) return;
  try {
    copies_.emplace(session, take_snapshot(core.model(), *session));
  } catch (const Error& error) {
    log_without_copy(error);
  }
}

std::vector<std::shared_ptr<SessionState>> SessionMove::sessions_of(
    const Model& model) {
  if (model.only != nullptr) return {model.only};
  return model.sessions->sessions();
}

void SessionMove::join(const Model& model) {
  if (model.joins != nullptr) model.joins->add(model.only);
}

void SessionMove::change_list(const Model& model) noexcept {
  if (model.joins == nullptr) return;
  model.sessions->remove(*model.only);
  model.only->change_list(model.joins);
}

bool SessionMove::run_if(const std::function<bool()>& may_go,
                         const std::function<void()>& decided) {
  const std::lock_guard lock(holding());
  bool went = false;
  hold(0, [&] {
    // Each once, and always in the same order.
    std::set<std::mutex*> mutexes;
    for (const Model& model : models_) {
      mutexes.insert(&model.sessions->mutex());
      if (model.joins != nullptr) mutexes.insert(&model.joins->mutex());
    }
    std::vector<std::unique_lock<std::mutex>> list_locks;
    for (std::mutex* const mutex : mutexes) list_locks.emplace_back(*mutex);
    if (!may_go()) return;
    std::vector<Departure> departures;
    for (const Model& model : models_) {
      if (model.from == model.to) continue;
      for (const auto& session : sessions_of(model)) {
        if (is_over(*session)) continue;
        departures.push_back(prepare(model, session));
      }
    }
    std::for_each(models_.begin(), models_.end(), join);
    // Those that wait longest arrive first.
    std::stable_sort(departures.begin(), departures.end(),
                     [](const Departure& a, const Departure& b) {
                       const auto arrival = [](const Departure& departure) {
                         const auto& jobs = departure.session->jobs;
                         return jobs.empty() ? UINT64_MAX
                                             : jobs.front()->arrival;
                       };
                       return arrival(a) < arrival(b);
                     });
    decided();
    for (Departure& departure : departures) depart(departure);
    std::for_each(models_.begin(), models_.end(), change_list);
    went = true;
  });
  return went;
}

void SessionMove::hold(size_t next, const std::function<void()>& function) {
  if constexpr (!kThreads) {
    Turns::check_outside();
    return function();
  }
  if (next == engines_.size()) return function();
  handle(engines_[next]).core()->call([&](Core&) { hold(next + 1, function); });
}

SessionMove::Departure SessionMove::prepare(
    const Model& model, const std::shared_ptr<SessionState>& session) {
  const EngineHandle& to = handle(model.to);
  Departure departure;
  departure.session = session;
  departure.from = model.from;
  departure.to = model.to;
  SessionOptions options = session->options;
  // A session of the whole context of its model is one there too; one that is
  // longer than that is cut to it.
  const int64_t most = to.options().context_length;
  const bool whole =
      options.context_length == model.from->options().context_length;
  if (whole || options.context_length > most) options.context_length = most;
  if (options.shift_when_full) {
    options.keep_tokens =
        std::min(options.keep_tokens, options.context_length - 2);
  }
  if (session->size() > options.context_length) {
    fail(RC_E_CONTEXT_FULL, "a session has ", session->size(),
         " tokens, and where it is to go the model was loaded for ", most,
         "; truncate the session, or load the model with a smaller "
         "context_length in both places");
  }
  if (!session->items.runs().empty()) {
    check_takes_embeddings(to, "a session that is to move there");
  }
  departure.options = to.resolve(options);
  SavedSession copy;
  if (const auto found = copies_.find(session); found != copies_.end()) {
    copy = std::move(found->second);
    copies_.erase(found);
  }
  departure.arrival = std::make_unique<Arrival>(session, std::move(copy));
  to.core()->pages().prepare(departure.residence,
                             departure.options.context_length);
  departure.residence.usage = to.core()->usage_of(*session->account->tenant);
  to.core()->add_account(session->account);
  return departure;
}

void SessionMove::depart(Departure& departure) noexcept {
  SessionState& session = *departure.session;
  departure.arrival->set_evaluated(session.residence.evaluated);
  handle(departure.from).core()->release(session);
  session.residence = std::move(departure.residence);
  session.options = departure.options;
  for (const auto& job : session.jobs) job->keep(departure.to);
  session.home->move(departure.to, handle(departure.to).core()->commands(),
                     departure.options, *departure.arrival.release());
}

void move_session(const std::shared_ptr<SessionState>& session,
                  const Session::Destination& destination,
                  const std::function<bool()>& should_stop,
                  const std::function<void()>& decided) {
  const std::shared_ptr<SessionList> list = session->list();
  if (list == destination.list) return decided();
  for (;;) {
    const std::shared_ptr<Engine> here = session->home->engine();
    const std::shared_ptr<Engine> there = destination.engine();
    check_same_model(here->file(), there->file());
    SessionMove move({{list, here, there, session, destination.list}});
    move.copy(should_stop);
    // Unless one of the two has moved meanwhile.
    const auto may_go = [&] {
      return session->home->engine() == here && destination.engine() == there;
    };
    if (move.run_if(may_go, decided)) return;
  }
}

}  // namespace rc::engine

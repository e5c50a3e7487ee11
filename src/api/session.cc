#include "api/session.h"

#include "api/configured.h"
#include "api/guard.h"
#include "api/options.h"
#include "api/returned_memory.h"
#include "api/tokenize.h"

namespace rc::api {
namespace {

engine::SessionOptions session_options(const rc_session_options* given,
                                       const LoadedModel& model) {
  const int64_t most = model.engine()->options().context_length;
  const rc_session_options options = configured(given, most);
  need_range<int32_t>(options.reserved, 0, 0, "options->reserved");
  need_range<int64_t>(options.context_length, 0, most,
                      "options->context_length");
  if (options.when_full != RC_FULL_ERROR &&
      options.when_full != RC_FULL_SHIFT) {
    fail(RC_E_INVALID_ARGUMENT, "options->when_full: ", options.when_full,
         " is neither RC_FULL_ERROR nor RC_FULL_SHIFT");
  }
  const int64_t context =
      options.context_length == 0 ? most : options.context_length;
  need_range<int64_t>(options.keep_tokens, 0, context - 1,
                      "options->keep_tokens");
  engine::SessionOptions result;
  result.context_length = options.context_length;
  result.shift_when_full = options.when_full == RC_FULL_SHIFT;
  result.keep_tokens = options.keep_tokens;
  return result;
}

std::unique_ptr<Tenant::Slot> slot_of(const HandleAccount& account) {
  return std::make_unique<Tenant::Slot>(account.tenant(),
                                        Tenant::Counted::kSessions);
}

// A new session: function() makes it. Throws RC_E_QUOTA before that.
template <class Function>
rc_session* add_session(const std::shared_ptr<const LoadedModel>& model,
                        const Function& function) {
  auto slot = slot_of(*model->account);
  return add_handle(std::make_unique<rc_session>(
      model->account, model->file, std::make_shared<SessionPlace>(model),
      function(), std::move(slot)));
}

rc_session* restore(const std::shared_ptr<const LoadedModel>& model,
                    const gguf::File& saved,
                    const engine::SessionOptions& options) {
  return add_session(model, [&] {
    return model->make_session([&](engine::Engine& engine) {
      return engine.restore_session(saved, options,
                                    model->account->engine_account());
    });
  });
}

// A file over memory that outlives the call.
std::shared_ptr<const gguf::File> open_memory(std::span<const std::byte> data) {
  return gguf::File::from_memory(nullptr, data, "saved session in memory");
}

}  // namespace

bool decodes_all_logits(uint32_t flags) {
  if ((flags & ~uint32_t{RC_DECODE_ALL_LOGITS}) != 0) {
    fail(RC_E_INVALID_ARGUMENT, "flags: ", flags,
         " holds more than RC_DECODE_ALL_LOGITS");
  }
  return (flags & RC_DECODE_ALL_LOGITS) != 0;
}

}  // namespace rc::api

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::LoadedModel;
using rc::api::need;
using rc::api::need_array;
using rc::api::need_pointer;

void rc_session_options_init(rc_session_options* options, size_t size) {
  rc::api::initialise_options(options, size);
}

rc_status rc_session_create(rc_model* model, const rc_session_options* options,
                            rc_session** session) {
  return guard_handle(session, "session", [&] {
    const std::shared_ptr<const LoadedModel> loaded =
        need(model, "model").loaded;
    const auto checked = rc::api::session_options(options, *loaded);
    return rc::api::add_session(loaded, [&] {
      return loaded->make_session([&](rc::engine::Engine& engine) {
        return engine.create_session(checked,
                                     loaded->account->engine_account());
      });
    });
  });
}

rc_session* rc_session_retain(rc_session* session) {
  return rc::api::retain_handle(session, "session");
}

void rc_session_release(rc_session* session) {
  rc::api::release_handle(session, "session");
}

rc_status rc_session_append(rc_session* session, const int32_t* tokens,
                            size_t count) {
  return guard([&] {
    const rc_session& handle = need(session, "session");
    rc::api::check_tokens(tokens, count,
                          handle.file->hyper_parameters().vocabulary, "tokens");
    handle.session->append({tokens, tokens + count});
  });
}

rc_status rc_session_append_text(rc_session* session, const char* text,
                                 size_t length, uint32_t flags) {
  return guard([&] {
    const rc_session& handle = need(session, "session");
    need_array(text, length, 1, "text");
    rc::api::check_tokenize_flags(flags, "flags");
    handle.session->append_text({text, length}, flags);
  });
}

rc_status rc_session_decode(rc_session* session, uint32_t flags) {
  return guard([&] {
    const rc_session& handle = need(session, "session");
    handle.session->decode(rc::api::decodes_all_logits(flags));
  });
}

rc_status rc_session_logits(rc_session* session, const float** logits,
                            size_t* rows, size_t* vocabulary) {
  return guard([&] {
    const rc_session& handle = need(session, "session");
    need_pointer(logits, "logits");
    need_pointer(rows, "rows");
    need_pointer(vocabulary, "vocabulary");
    const rc::engine::Session::Logits last = handle.session->logits();
    *logits = last.data;
    *rows = last.rows;
    *vocabulary = last.vocabulary;
  });
}

rc_status rc_session_position(rc_session* session, int64_t* position) {
  return guard([&] {
    const rc_session& handle = need(session, "session");
    need_pointer(position, "position");
    *position = handle.session->position();
  });
}

rc_status rc_session_tokens(rc_session* session, int32_t** tokens,
                            size_t* count) {
  return guard([&] {
    const rc_session& handle = need(session, "session");
    need_pointer(tokens, "tokens");
    need_pointer(count, "count");
    const std::vector<int32_t> all = handle.session->tokens();
    *tokens = rc::api::return_array(std::span(all)).release();
    *count = all.size();
  });
}

rc_status rc_session_truncate(rc_session* session, int64_t position) {
  return guard([&] {
    const rc_session& handle = need(session, "session");
    rc::api::need_at_least_zero(position, "position");
    handle.session->truncate(position);
  });
}

rc_status rc_session_fork(rc_session* session, rc_session** fork) {
  return guard_handle(fork, "fork", [&] {
    const rc_session& handle = need(session, "session");
    auto slot = rc::api::slot_of(*handle.account);
    std::shared_ptr<rc::engine::Session> made;
    auto place = handle.place->place_of([&] { made = handle.session->fork(); });
    return rc::api::add_handle(std::make_unique<rc_session>(
        handle.account, handle.file, std::move(place), std::move(made),
        std::move(slot)));
  });
}

rc_status rc_session_save(rc_session* session, const char* path) {
  return guard([&] {
    const rc_session& handle = need(session, "session");
    need_pointer(path, "path");
    if (*path == '\0') rc::fail(RC_E_INVALID_ARGUMENT, "path: empty");
    handle.session->save(path);
  });
}

rc_status rc_session_save_memory(rc_session* session, void** data,
                                 size_t* size) {
  return guard([&] {
    const rc_session& handle = need(session, "session");
    need_pointer(data, "data");
    need_pointer(size, "size");
    const std::vector<std::byte> saved = handle.session->save();
    *data = rc::api::return_array(std::span(saved)).release();
    *size = saved.size();
  });
}

rc_status rc_session_restore(rc_model* model, const char* path,
                             const rc_session_options* options,
                             rc_session** session) {
  return guard_handle(session, "session", [&] {
    const std::shared_ptr<const LoadedModel> loaded =
        need(model, "model").loaded;
    need_pointer(path, "path");
    if (*path == '\0') rc::fail(RC_E_INVALID_ARGUMENT, "path: empty");
    const rc::engine::SessionOptions checked =
        rc::api::session_options(options, *loaded);
    return rc::api::restore(loaded, *rc::gguf::File::open(path), checked);
  });
}

rc_status rc_session_restore_memory(rc_model* model, const void* data,
                                    size_t size,
                                    const rc_session_options* options,
                                    rc_session** session) {
  return guard_handle(session, "session", [&] {
    const std::shared_ptr<const LoadedModel> loaded =
        need(model, "model").loaded;
    need_array(data, size, 1, "data");
    const rc::engine::SessionOptions checked =
        rc::api::session_options(options, *loaded);
    const std::span bytes(static_cast<const std::byte*>(data), size);
    return rc::api::restore(loaded, *rc::api::open_memory(bytes), checked);
  });
}

rc_status rc_session_migrate(rc_session* session, rc_model* model,
                             rc_session** migrated) {
  return guard_handle(migrated, "migrated", [&] {
    const rc_session& handle = need(session, "session");
    const std::shared_ptr<const LoadedModel> target =
        need(model, "model").loaded;
    const std::vector<std::byte> saved = handle.session->save();
    rc::engine::SessionOptions options = handle.session->options();
    // A session of the whole context of its model is one there too.
    if (options.context_length ==
        handle.place->model()->engine()->options().context_length) {
      options.context_length = 0;
    }
    return rc::api::restore(target, *rc::api::open_memory(saved), options);
  });
}

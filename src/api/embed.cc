#include "runcible/embed.h"

#include "api/async_work.h"
#include "api/embedding.h"
#include "api/guard.h"
#include "api/loop.h"
#include "api/model.h"
#include "api/options.h"
#include "base/time_limit.h"

namespace rc::api {
namespace {

constexpr rc_embed_options kEmbedDefaults = RC_EMBED_OPTIONS_INIT;
constexpr rc_rerank_options kRerankDefaults = RC_RERANK_OPTIONS_INIT;

// Makes the rows and asks the function now and then whether to stop.
using Make = std::function<engine::TextRows(std::function<bool()>)>;

std::vector<std::string> copy_texts(const char* const* texts,
                                    const size_t* lengths, size_t count,
                                    const char* name) {
  if (count == 0) {
    fail(RC_E_INVALID_ARGUMENT, "count: 0; there must be one text at least");
  }
  need_pointer(texts, name);
  std::vector<std::string> copies;
  copies.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr && (lengths == nullptr || lengths[i] != 0)) {
      fail(RC_E_INVALID_ARGUMENT, name, "[", i, "]: NULL");
    }
    if (lengths == nullptr) {
      copies.emplace_back(texts[i]);
    } else {
      copies.emplace_back(texts[i] == nullptr ? "" : texts[i], lengths[i]);
    }
  }
  return copies;
}

template <class Options>
engine::RowOptions row_options(const Options& options) {
  need_flag(options.truncate, "options->truncate");
  need_at_least_zero(options.deadline_ms, "options->deadline_ms");
  engine::RowOptions result;
  result.truncate = options.truncate != 0;
  result.priority = options.priority;
  if (options.deadline_ms > 0) {
    result.deadline = time_after(options.deadline_ms);
  }
  return result;
}

engine::EmbedOptions embed_options(const rc_embed_options* given,
                                   const model::ModelFile& file) {
  const rc_embed_options options =
      read_options(given, kEmbedDefaults, "options");
  need_range<int32_t>(options.pooling, RC_POOLING_AUTO, RC_POOLING_LAST,
                      "options->pooling");
  need_range(options.normalize, -1, 1, "options->normalize");
  need_at_least_zero(options.dimensions, "options->dimensions");
  engine::EmbedOptions result;
  result.rows = row_options(options);
  switch (options.pooling) {
    case RC_POOLING_MEAN:
      result.pooling = engine::Pooling::kMean;
      break;
    case RC_POOLING_FIRST:
      result.pooling = engine::Pooling::kFirst;
      break;
    case RC_POOLING_LAST:
      result.pooling = engine::Pooling::kLast;
      break;
    default:
      break;
  }
  if (options.normalize >= 0) result.normalize = options.normalize != 0;
  result.dimensions = options.dimensions;
  if (options.prompt != nullptr && options.prompt_name != nullptr) {
    fail(RC_E_INVALID_ARGUMENT,
         "options->prompt_name: given together with options->prompt; give "
         "either");
  }
  if (options.prompt != nullptr) result.prompt = options.prompt;
  if (options.prompt_name != nullptr) result.prompt_name = options.prompt_name;
  return engine::resolve(std::move(result), file);
}

engine::RerankOptions rerank_options(const rc_rerank_options* given,
                                     const model::ModelFile& file) {
  const rc_rerank_options options =
      read_options(given, kRerankDefaults, "options");
  need_flag(options.raw_scores, "options->raw_scores");
  engine::RerankOptions result;
  result.rows = row_options(options);
  result.raw_scores = options.raw_scores != 0;
  if (options.prompt != nullptr) result.prompt = options.prompt;
  return engine::resolve(std::move(result), file);
}

Make make_embeddings(std::shared_ptr<const LoadedModel> model,
                     std::vector<std::string> texts,
                     engine::EmbedOptions options) {
  return [model = std::move(model), texts = std::move(texts),
          options = std::move(options)](std::function<bool()> stop) mutable {
    options.rows.should_stop = std::move(stop);
    return engine::embed(*model->engine(), model->account->engine_account(),
                         texts, options);
  };
}

Make make_scores(std::shared_ptr<const LoadedModel> model, std::string query,
                 std::vector<std::string> documents,
                 engine::RerankOptions options) {
  return [model = std::move(model), query = std::move(query),
          documents = std::move(documents),
          options = std::move(options)](std::function<bool()> stop) mutable {
    options.rows.should_stop = std::move(stop);
    return engine::rerank(*model->engine(), model->account->engine_account(),
                          query, documents, options);
  };
}

class AsyncRows final : public AsyncWork {
 public:
  AsyncRows(std::shared_ptr<EmbeddingWork> work, Make make,
            std::shared_ptr<engine::Loop> loop, rc_embed_callback callback,
            void* user, const char* function)
      : AsyncWork(std::move(loop), "embedding", function),
        work_(std::move(work)),
        make_(std::move(make)),
        callback_(callback),
        user_(user),
        handle_(add_handle(std::make_unique<rc_embedding>(work_))) {}
  ~AsyncRows() override { release_handle(handle_, "embedding"); }

  rc_embedding* handle() const { return handle_; }

 private:
  void work() override {
    engine::TextRows rows;
    const rc_status status = guard([&] {
      rows = make_([this] { return stopped() || work_->cancelled(); });
    });
    make_ = nullptr;  // and what it holds: the model may go
    work_->end(status, std::move(rows));
    static_cast<void>(work_->rows());  // throws how it ended
  }

  void deliver(rc_status status, const char* message) override {
    if (callback_ != nullptr) callback_(user_, status, message, handle_);
  }

  const std::shared_ptr<EmbeddingWork> work_;
  Make make_;
  const rc_embed_callback callback_;
  void* const user_;
  rc_embedding* const handle_;
};

void make_now(const LoadedModel& model, const Make& make,
              rc_embedding** embedding) {
  const auto work = std::make_shared<EmbeddingWork>(model.account);
  work->end(RC_OK, make({}));
  *embedding = add_handle(std::make_unique<rc_embedding>(work));
}

void check_told(rc_embed_callback callback, rc_embedding** embedding) {
  if (embedding != nullptr) *embedding = nullptr;
  if (callback == nullptr && embedding == nullptr) {
    fail(RC_E_INVALID_ARGUMENT,
         "embedding: NULL, and there is no callback; its result could not be "
         "delivered");
  }
}

void make_later(const LoadedModel& model, Make make, rc_loop* loop,
                rc_embed_callback callback, void* user, const char* function,
                rc_embedding** embedding) {
  auto work = std::make_unique<AsyncRows>(
      std::make_shared<EmbeddingWork>(model.account), std::move(make),
      loop_or_own(loop), callback, user, function);
  // A reference of the caller's, before the work may be over.
  rc_embedding* const handle = work->handle();
  if (embedding != nullptr) {
    *embedding = retain_handle(handle, "embedding");
  }
  try {
    AsyncWork::start(std::move(work));
  } catch (...) {
    if (embedding != nullptr) {
      release_handle(*embedding, "embedding");
      *embedding = nullptr;
    }
    throw;
  }
}

}  // namespace
}  // namespace rc::api

using rc::api::guard;
using rc::api::need;
using rc::api::need_pointer;

void rc_embed_options_init(rc_embed_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kEmbedDefaults);
}

void rc_rerank_options_init(rc_rerank_options* options, size_t size) {
  rc::api::initialise(options, size, rc::api::kRerankDefaults);
}

rc_status rc_embed(rc_model* model, const char* const* texts,
                   const size_t* lengths, size_t count,
                   const rc_embed_options* options, rc_embedding** embedding) {
  return guard([&] {
    need_pointer(embedding, "embedding");
    *embedding = nullptr;
    const auto loaded = need(model, "model").loaded;
    auto checked = rc::api::embed_options(options, *loaded->file);
    rc::api::make_now(
        *loaded,
        rc::api::make_embeddings(
            loaded, rc::api::copy_texts(texts, lengths, count, "texts"),
            std::move(checked)),
        embedding);
  });
}

rc_status rc_embed_async(rc_model* model, const char* const* texts,
                         const size_t* lengths, size_t count,
                         const rc_embed_options* options, rc_loop* loop,
                         rc_embed_callback callback, void* user,
                         rc_embedding** embedding) {
  return guard([&] {
    rc::api::check_told(callback, embedding);
    const auto loaded = need(model, "model").loaded;
    auto checked = rc::api::embed_options(options, *loaded->file);
    rc::api::make_later(
        *loaded,
        rc::api::make_embeddings(
            loaded, rc::api::copy_texts(texts, lengths, count, "texts"),
            std::move(checked)),
        loop, callback, user, "rc_embed_async", embedding);
  });
}

rc_status rc_rerank(rc_model* model, const char* query, size_t query_length,
                    const char* const* documents, const size_t* lengths,
                    size_t count, const rc_rerank_options* options,
                    rc_embedding** embedding) {
  return guard([&] {
    need_pointer(embedding, "embedding");
    *embedding = nullptr;
    const auto loaded = need(model, "model").loaded;
    need_pointer(query, "query");
    auto checked = rc::api::rerank_options(options, *loaded->file);
    rc::api::make_now(
        *loaded,
        rc::api::make_scores(
            loaded, std::string(query, query_length),
            rc::api::copy_texts(documents, lengths, count, "documents"),
            std::move(checked)),
        embedding);
  });
}

rc_status rc_rerank_async(rc_model* model, const char* query,
                          size_t query_length, const char* const* documents,
                          const size_t* lengths, size_t count,
                          const rc_rerank_options* options, rc_loop* loop,
                          rc_embed_callback callback, void* user,
                          rc_embedding** embedding) {
  return guard([&] {
    rc::api::check_told(callback, embedding);
    const auto loaded = need(model, "model").loaded;
    need_pointer(query, "query");
    auto checked = rc::api::rerank_options(options, *loaded->file);
    rc::api::make_later(
        *loaded,
        rc::api::make_scores(
            loaded, std::string(query, query_length),
            rc::api::copy_texts(documents, lengths, count, "documents"),
            std::move(checked)),
        loop, callback, user, "rc_rerank_async", embedding);
  });
}

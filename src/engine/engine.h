// The engine of one resident model: one thread that takes requests and session
// calls from any thread, and runs them in steps of at most max_rows rows. A new
// request joins at the next step; decoding rows are served before prompts.
//
// Threads: every public function may be called from any thread. The engine
// thread alone touches the device, the pages and the state of sessions.
// Listener functions are called on the engine thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/account.h"
#include "engine/logprobs.h"
#include "engine/sampling_options.h"
#include "engine/token.h"
#include "model/embedding_rows.h"
#include "model/reserved_memory.h"
#include "model/resident_model.h"
#include "runcible/generate.h"

namespace rc::text::grammar {
class Grammar;
}

namespace rc::engine {

struct EngineOptions {
  int64_t context_length = 0;  // 0: see rc_model_options
  int64_t cache_tokens = 0;
  DType cache_dtype = RC_DTYPE_F16;
  int64_t max_rows = 512;
  bool prefix_cache = true;
  bool keep_mapped = false;
  bool guard_mapped = false;
  bool experts_mapped = false;
  int64_t resident_experts = 0;
  std::string experts_on;  // a device of the chain; "": with their layers
  int64_t experts_on_layers = 0;  // 0: all
  bool fit = false;               // see fit.h; so too fits_cache_dtype
  bool fits_cache_dtype = false;
  bool takes_embeddings = false;
  int64_t timeout_ms = 0;     // of one step; 0: none
  uint64_t memory_limit = 0;  // bytes of the first device; 0: none
  // Whether the caller pays for a weight already, so that the limit does not
  // count it again. Empty: it pays for none.
  std::function<bool(const runtime::Weight&)> has_weight;
  // Memory reserved for models that are loaded together with it; nullptr: none.
  const model::ReservedMemory* reserved = nullptr;
  // For measure_importance alone: see model::ResidentOptions.
  bool observes_products = false;
};

struct Plan {
  model::MemoryPlan memory;
  // Of the first device and of each of memory.devices; 0: unknown.
  uint64_t available = 0;
  std::vector<uint64_t> device_available;
  std::vector<bool> device_fits;
  bool fits = true;
  int64_t context_length = 0;
  int64_t cache_tokens = 0;
  int64_t largest_context = 0;
  DType cache_dtype = RC_DTYPE_F16;
};
Plan plan(const model::ModelFile& file, const runtime::DeviceChain& chain,
          const EngineOptions& options);

// A change with which a model that does not fit would fit; see
// rc_plan_offer_report.
struct Offer {
  std::string option;
  std::string value;
  std::string text;
  uint64_t total = 0;
  uint64_t mapped = 0;
  int64_t context_length = 0;
};
// Of a model that fits there are none.
std::vector<Offer> offers(const model::ModelFile& file,
                          const runtime::DeviceChain& chain,
                          const EngineOptions& options, const Plan& plan);

struct SessionOptions {
  int64_t context_length = 0;  // 0: the engine's
  bool shift_when_full = false;
  int64_t keep_tokens = 0;
};

// A prompt that is made for a request, such as that of a conversation.
struct WholePrompt {
  // All that the session is to hold before the model generates. As much of it
  // as the session holds already is kept, the rest of the session is dropped.
  std::vector<TokenId> tokens;
  // In place of the request's, unless that has one.
  std::shared_ptr<const text::grammar::Grammar> grammar;
};

// Makes the prompt of one request, on a thread with a deep stack
// (base/deep_stack.h). The request may have ended meanwhile.
class PromptMaker {
 public:
  virtual ~PromptMaker() = default;
  // Throws what ends the request: Error, or std::bad_alloc; RC_E_CANCELLED soon
  // after should_stop() gives true. `room`: of the session, for tokens after
  // the prompt.
  virtual WholePrompt make(const SessionOptions& session, int64_t room,
                           const std::function<bool()>& should_stop) = 0;
};

struct RequestOptions {
  // In place of a prompt of text or tokens. The session must be idle.
  std::shared_ptr<PromptMaker> prompt_maker;
  std::string prompt;  // used if prompt_tokens is empty
  std::vector<TokenId> prompt_tokens;
  uint32_t tokenize_flags = RC_TOKENIZE_ADD_SPECIAL;
  int64_t max_tokens = -1;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  int32_t priority = 0;
  SamplingOptions sampling;
  std::vector<std::string> stop;
  std::vector<TokenId> stop_tokens;
  bool ignore_eos = false;
  // The grammar of the generated text; nullptr: any text.
  std::shared_ptr<const text::grammar::Grammar> grammar;
  int32_t logprobs = -1;
  bool echo = false;
  // Control tokens divide the text: text held back before one is delivered
  // before it, and no stop string goes across it.
  bool control_divides = false;
  // The thread that calls generate() waits for the end: it tokenizes itself.
  bool caller_waits = false;
};

// Checks every option that can be checked without looking at the session;
// throws RC_E_INVALID_ARGUMENT with name, value and limit.
void check(const RequestOptions& options, const model::ModelFile& file);

struct Piece {
  // RC_EVENT_PIECE, or what a conversation made of it; see generate.h.
  rc_event_type type = RC_EVENT_PIECE;
  std::string text;
  std::vector<TokenId> tokens;
  std::vector<TokenLogprob> logprobs;
  std::vector<TokenLogprob> top_logprobs;
  // Of a call.
  int64_t call = -1;
  std::string name;
  std::string id;
};

// Receives the events of a request, on the engine thread. Must not block, nor
// call the engine but for Request::cancel. piece() may throw std::bad_alloc:
// the request then ends with RC_E_OUT_OF_MEMORY. end() comes exactly once,
// last.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void piece(Piece piece) = 0;
  // `message` is valid during the call.
  virtual void end(const rc_generate_report& report,
                   const char* message) noexcept = 0;
};

// Receives the end of a decode, on the engine thread, exactly once. Must not
// block, nor call the engine but for Request::cancel. `message` is valid during
// the call.
class DecodeListener {
 public:
  virtual ~DecodeListener() = default;
  virtual void decoded(rc_status status, const char* message) noexcept = 0;
};

class Engine;
class SessionList;

// One generation or decode, shared by the engine and the callers that may
// cancel it.
class Request {
 public:
  virtual ~Request() = default;
  virtual void cancel() noexcept = 0;
};

// State of one conversation. Functions block until the engine thread has done
// them; RC_E_BUSY while requests are in flight on the session. Keeps the
// engine alive where it is; that may change (engine/session_move.h).
class Session {
 public:
  virtual ~Session() = default;
  virtual std::shared_ptr<Engine> engine() const = 0;
  // Once, under the list's lock and before the first request: moves with the
  // others of the list from now on, until it joins another by move(). Throws
  // std::bad_alloc.
  virtual void join(const std::shared_ptr<SessionList>& list) = 0;
  virtual void append(std::vector<TokenId> tokens) = 0;
  // Tokenizes; special tokens are added only if the session is empty.
  virtual void append_text(std::string_view text, uint32_t flags) = 0;
  // Throws RC_E_UNSUPPORTED if the engine takes no embedding rows. They have
  // the model's width.
  virtual void append_embeddings(
      std::shared_ptr<const model::EmbeddingRows> rows) = 0;
  virtual void decode(bool all_logits) = 0;
  // The same without waiting: it is a request in flight until its end. Throws
  // RC_E_BUSY if there is another, and std::bad_alloc.
  virtual std::shared_ptr<Request> decode_later(
      bool all_logits, std::shared_ptr<DecodeListener> listener) = 0;
  struct Logits {
    const float* data;  // [rows, vocabulary]
    size_t rows;
    size_t vocabulary;
  };
  virtual Logits logits() = 0;
  virtual int64_t position() = 0;
  virtual std::vector<TokenId> tokens() = 0;
  virtual void truncate(int64_t position) = 0;
  virtual std::shared_ptr<Session> fork() = 0;
  // Where a session moves to: the list that it joins, and the engine of its
  // sessions, which changes under the list's lock alone.
  struct Destination {
    std::shared_ptr<SessionList> list;
    std::function<std::shared_ptr<Engine>()> engine;
  };
  // Moves it to another engine of the same model, with its requests; see
  // move_session().
  virtual void move(const Destination& destination,
                    const std::function<bool()>& should_stop,
                    const std::function<void()>& decided) = 0;
  virtual std::vector<std::byte> save() = 0;
  virtual void save(const std::string& path) = 0;
  virtual SessionOptions options() const = 0;
  // Queues a generation behind those in flight on this session. The options
  // have passed check(). Throws std::bad_alloc, and RC_E_BUSY if the options
  // have a prompt_maker and requests are in flight; every other failure is
  // reported to the listener, on the engine thread. A prompt is made, or
  // tokenized, on a thread for it, unless the text is known to be too long
  // before.
  virtual std::shared_ptr<Request> generate(
      RequestOptions options, std::shared_ptr<Listener> listener) = 0;
};

// The ways to make one row of a text's hidden rows, or scores.
enum class Pooling { kMean, kFirst, kLast };

// A text, or a pair of texts, of which the model gives one row.
struct PoolOptions {
  std::vector<TokenId> tokens;      // at least one
  int64_t second_text = INT64_MAX;  // of a pair: where the second begins
  Pooling pooling = Pooling::kMean;
  int32_t priority = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline;
};

// Receives a row, on the engine thread, exactly once. Must not block, nor call
// the engine but for Request::cancel. The row is empty unless the status is
// RC_OK; it and the message are valid during the call.
class PoolListener {
 public:
  virtual ~PoolListener() = default;
  virtual void pooled(std::span<const float> row, rc_status status,
                      const char* message) noexcept = 0;
};

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  // Gives the engine that is resident for this file, first device and options,
  // if it keeps to this caller's limit and chain or is `held` by the caller
  // already, or loads one. `progress` as for ResidentModel::load.
  static std::shared_ptr<Engine> load(
      std::shared_ptr<const model::ModelFile> file,
      const runtime::DeviceChain& chain, const EngineOptions& options,
      const std::function<bool(double)>& progress,
      const std::function<bool(const Engine&)>& held = {});
  // Reserves the memory that load() would take now. Throws as load() if that
  // does not fit, or not next to reserved memory; then nothing is reserved.
  static void reserve(const model::ModelFile& file,
                      const runtime::DeviceChain& chain, EngineOptions options,
                      const std::function<bool(const Engine&)>& held,
                      model::ReservedMemory& reserved);
  virtual ~Engine() = default;

  virtual const model::ModelFile& file() const = 0;
  // The first device of the chain.
  virtual const std::shared_ptr<runtime::Device>& device() const = 0;
  virtual const runtime::DeviceChain& chain() const = 0;
  // With the numbers that were chosen for those left open.
  virtual const EngineOptions& options() const = 0;
  virtual const model::MemoryPlan& memory() const = 0;
  // The parts of that memory that are each paid for as one.
  virtual const std::vector<model::Resource>& resources() const = 0;
  // Ops that run elsewhere, because their device does not support them.
  virtual const std::vector<runtime::Fallback>& fallbacks() const = 0;
  virtual int64_t page_size() const = 0;

  virtual std::shared_ptr<Session> create_session(
      const SessionOptions& options, std::shared_ptr<Account> account) = 0;
  // Makes one row of a text's, of a model that gives no logits; without a
  // session. The tokens are in the vocabulary and not more than
  // longest_text(). Throws std::bad_alloc only.
  virtual std::shared_ptr<Request> pool(PoolOptions options,
                                        std::shared_ptr<PoolListener> listener,
                                        std::shared_ptr<Account> account) = 0;
  // The most tokens of a text for pool().
  virtual int64_t longest_text() const = 0;
  // From what Session::save gave, opened with gguf::File::open or
  // from_memory; what it says is hostile. The file is not kept.
  virtual std::shared_ptr<Session> restore_session(
      const gguf::File& file, const SessionOptions& options,
      std::shared_ptr<Account> account) = 0;
};

}  // namespace rc::engine

// An engine as others see it: owns the engine thread.
#pragma once

#include <memory>
#include <thread>

#include "engine/core.h"

namespace rc::engine {

class EngineHandle final : public Engine {
 public:
  // `options` as they were chosen, but for the limit, which is as it was given.
  EngineHandle(std::unique_ptr<model::ResidentModel> model,
               const EngineOptions& options, runtime::DeviceChain chain);
  // Ends the thread, where there are threads, and waits for it; on the engine
  // thread itself, where the last reference may be dropped together with a
  // request, it goes by itself.
  ~EngineHandle() override;

  const model::ModelFile& file() const override { return *file_; }
  const std::shared_ptr<runtime::Device>& device() const override {
    return chain_.first();
  }
  const runtime::DeviceChain& chain() const override { return chain_; }
  const EngineOptions& options() const override { return core_->options(); }
  const model::MemoryPlan& memory() const override { return memory_; }
  const std::vector<model::Resource>& resources() const override {
    return resources_;
  }
  const std::vector<runtime::Fallback>& fallbacks() const override {
    return fallbacks_;
  }
  int64_t page_size() const override { return layout_.page_size; }
  std::shared_ptr<Session> create_session(
      const SessionOptions& options, std::shared_ptr<Account> account) override;
  std::shared_ptr<Request> pool(PoolOptions options,
                                std::shared_ptr<PoolListener> listener,
                                std::shared_ptr<Account> account) override;
  int64_t longest_text() const override;
  std::shared_ptr<Session> restore_session(
      const gguf::File& file, const SessionOptions& options,
      std::shared_ptr<Account> account) override;

  // No step can succeed any more.
  bool broken() const;
  // Whether layers lie on other devices than the first.
  bool spread() const;
  // The options of a session here, with its context_length; throws what
  // create_session() would.
  SessionOptions resolve(const SessionOptions& options) const;
  const model::CacheLayout& layout() const { return layout_; }
  const std::shared_ptr<Core>& core() const { return core_; }

 private:
  std::shared_ptr<SessionState> make_state(const SessionOptions& options,
                                           std::shared_ptr<Account> account);

  const std::shared_ptr<const model::ModelFile> file_;
  const runtime::DeviceChain chain_;
  const model::MemoryPlan memory_;
  const std::vector<model::Resource> resources_;
  const std::vector<runtime::Fallback> fallbacks_;
  const model::CacheLayout layout_;
  const std::shared_ptr<Core> core_;
  std::thread thread_;
};

}  // namespace rc::engine

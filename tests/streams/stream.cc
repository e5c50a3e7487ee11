#include "streams/stream.h"

#include <set>
#include <utility>

namespace rc::stand_in {
namespace {

std::mutex& streams_mutex = *new std::mutex;
std::set<Stream*>& streams = *new std::set<Stream*>;

}  // namespace

Stream::Stream() : thread_([this] { work(); }) {
  const std::lock_guard lock(streams_mutex);
  streams.insert(this);
}

Stream::~Stream() {
  {
    const std::lock_guard lock(streams_mutex);
    streams.erase(this);
  }
  add([this] { ends_ = true; });
  thread_.join();
}

void Stream::add(Task task) {
  const std::lock_guard lock(mutex_);
  if (captured_ != nullptr) {
    captured_->push_back(std::move(task));
    return;
  }
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void Stream::begin_capture() {
  const std::lock_guard lock(mutex_);
  captured_ = std::make_unique<Graph>();
}

std::unique_ptr<Graph> Stream::end_capture() {
  const std::lock_guard lock(mutex_);
  return std::move(captured_);
}

void Stream::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return tasks_.empty(); });
}

void Stream::work() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    changed_.wait(lock, [this] { return !tasks_.empty(); });
    const Task task = tasks_.front();
    lock.unlock();
    task();
    lock.lock();
    // It counts until it is done.
    tasks_.pop_front();
    changed_.notify_all();
  }
}

void wait_for_all() {
  const std::lock_guard lock(streams_mutex);
  for (Stream* const stream : streams) stream->wait();
}

void Event::record(Stream* stream) {
  const std::lock_guard lock(state_->mutex);
  const long number = ++state_->recorded;
  stream->add([state = state_, number] {
    const std::lock_guard inner(state->mutex);
    state->over = number;
    state->when = std::chrono::steady_clock::now();
    state->changed.notify_all();
  });
}

bool Event::is_over() const {
  const std::lock_guard lock(state_->mutex);
  return state_->over == state_->recorded;
}

void Event::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock,
                       [this] { return state_->over == state_->recorded; });
}

std::chrono::steady_clock::time_point Event::when() const {
  const std::lock_guard lock(state_->mutex);
  return state_->when;
}

}  // namespace rc::stand_in

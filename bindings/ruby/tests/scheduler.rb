# frozen_string_literal: true

require "io/wait"

# A Fiber scheduler with the methods that these tests need; see
# https://docs.ruby-lang.org/en/3.1/Fiber/SchedulerInterface.html.
class Scheduler
  def initialize
    @readable = {}
    @writable = {}
    @sleeping = {}
    @blocked = {}
    @ready = Thread::Queue.new # of fibers, also from other threads
    @wake, @waker = IO.pipe
  end

  # Runs a block as a fiber under a new scheduler, in a separate thread, until all
  # fibers have ended.
  def self.run(&block)
    Thread.new do
      Thread.current.report_on_exception = false
      Fiber.set_scheduler(new)
      result = nil
      failure = nil
      Fiber.schedule do
        result = block.call
      rescue Exception => e
        failure = e
      end
      Fiber.scheduler.run
      raise failure if failure

      result
    end.value
  end

  def run
    until idle?
      readable, writable, = IO.select([@wake, *@readable.values.flatten(1).uniq(&:fileno)],
                                      @writable.values, [], timeout)
      @wake.read_nonblock(1024, exception: false) if readable&.include?(@wake)
      resume(@readable, readable)
      resume(@writable, writable)
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      due, @sleeping = @sleeping.partition { |_, time| time <= now }.map(&:to_h)
      due.each_key { |fiber| fiber.resume if fiber.alive? }
      @ready.pop.then { |fiber| fiber.resume if fiber.alive? } until @ready.empty?
    end
  end
  alias close run

  def io_wait(io, events, _timeout)
    fiber = Fiber.current
    @readable[fiber] = io if events & IO::READABLE != 0
    @writable[fiber] = io if events & IO::WRITABLE != 0
    Fiber.yield
    events
  ensure
    @readable.delete(fiber)
    @writable.delete(fiber)
  end

  def kernel_sleep(duration = nil)
    duration ? block(:sleep, duration) : Fiber.yield
    true
  end

  def block(_blocker, timeout = nil)
    fiber = Fiber.current
    if timeout
      @sleeping[fiber] = Process.clock_gettime(Process::CLOCK_MONOTONIC) + timeout
    end
    @blocked[fiber] = true
    Fiber.yield
  ensure
    @blocked.delete(fiber)
    @sleeping.delete(fiber)
  end

  def unblock(_blocker, fiber)
    @ready << fiber
    @waker.write_nonblock(".", exception: false)
  end

  def fiber(&)
    Fiber.new(blocking: false, &).tap(&:resume)
  end

  private

  def idle?
    [@readable, @writable, @sleeping, @blocked, @ready].all?(&:empty?)
  end

  def timeout
    return 0 unless @ready.empty?
    return if @sleeping.empty?

    [0, @sleeping.values.min - Process.clock_gettime(Process::CLOCK_MONOTONIC)].max
  end

  def resume(waiting, streams)
    streams&.each { |io| waiting.key(io)&.resume }
  end
end

# frozen_string_literal: true

module Runcible
  # Long calls under a Fiber scheduler.
  module Cooperation
    # Runs a block that blocks. Under a Fiber scheduler it runs in a thread, while
    # other fibers go on; if the fiber that waits ends, so does the block.
    def self.wait_for(&)
      return yield unless Fiber.current_scheduler

      thread = Thread.new(&)
      thread.report_on_exception = false
      begin
        thread.value
      ensure
        thread.kill
      end
    end
  end
  private_constant :Cooperation
end

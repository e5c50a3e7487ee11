# frozen_string_literal: true

module Runcible
  # Owns a handle of the library until it is closed or collected.
  #
  # Handles may be closed and collected in any order: an object that needs another
  # handle keeps it. Calls in other threads that use the handle run to their end.
  class Handle
    # Calls the class's +new+. With a block, as File.open: passes the object to
    # the block, closes it at the end, and returns the block's value.
    def self.open(*arguments, **options)
      made = new(*arguments, **options)
      return made unless block_given?

      begin
        yield made
      ensure
        made.close
      end
    end

    # Makes an object of a proxy of the library.
    def self.of(proxy)
      made = allocate
      made.__send__(:own, proxy)
      made
    end
    private_class_method :of

    # Releases the handle; using it afterwards raises ClosedError.
    def close
      proxy, @proxy = @proxy, nil
      Native.drop(proxy) if proxy
      nil
    end

    def closed?
      @proxy.nil?
    end

    # Returns the proxy of the handle, for the classes of this library.
    def proxy # :nodoc:
      @proxy or raise ClosedError, "this #{self.class} is closed"
    end

    def inspect
      closed? ? "#<#{self.class}, closed>" : "#<#{self.class}#{description}>"
    end

    def initialize_copy(_other)
      raise TypeError, "a #{self.class} cannot be copied"
    end

    def marshal_dump
      raise TypeError, "a #{self.class} belongs to its process"
    end

    private

    def own(proxy)
      @proxy = proxy
    end

    # Returns the text that inspect adds for an open handle.
    def description
      ""
    end
  end

  # Arguments and options.
  module Arguments
    module_function

    # Returns the proxy of an argument of one of the library's classes.
    def proxy_of(value, kind, name)
      return value.proxy if value.is_a?(kind)

      raise TypeError, "#{name} must be a #{kind}, not #{value.class}"
    end

    # Sets members of an options object; nil leaves the default.
    def set(options, **values)
      values.each do |name, value|
        next if value.nil?

        value = JSONText.of_option(value, name) if JSONS.include?(name)
        begin
          set_member(options, name, value)
        rescue TypeError, RangeError => e
          raise e.class, "#{name} cannot be #{value.inspect} (#{value.class})",
                cause: nil
        end
      end
      options
    end

    def set_member(options, name, value)
      return options.public_send(:"set_#{name}", *value) if PAIRS.include?(name)

      value = 1 if value == true
      value = 0 if value == false
      value = milliseconds(value, name) if TIMES.key?(name)
      value = choice(CHOICES[name], value, name) if CHOICES.key?(name)
      options.public_send(:"#{TIMES.fetch(name, name)}=", value)
    end
    private_class_method :set_member

    # Returns the milliseconds of a time in seconds, rounded up so that no limit
    # ends before its time, except for the rounding error of binary fractions. At
    # least 1, because 0 means no limit to the library.
    def milliseconds(seconds, name)
      unless seconds.is_a?(Numeric) && seconds.real?
        raise TypeError, "#{name} must be seconds, not #{seconds.class}"
      end
      unless seconds >= 0 && seconds <= 1e12
        raise RangeError, "#{name} must be from 0 to 1e12 seconds, not #{seconds}"
      end

      [1, ((seconds * 1000) - 1e-6).ceil].max
    end

    # Returns the number of a name, a Symbol or a String.
    def choice(choices, value, name)
      unless value.is_a?(Symbol) || value.is_a?(String)
        raise TypeError, "#{name} must be a Symbol, not #{value.class}"
      end

      choices.fetch(value.to_s.downcase) do
        raise ArgumentError, "#{name} must be one of " \
                             "#{choices.keys.join(", ")}, not #{value.inspect}"
      end
    end

    # Returns the path of a String or of an object with to_path.
    def path(value)
      File.path(value)
    end

    def tokenize_flags(add_special, parse_special)
      (add_special ? Native::TOKENIZE_ADD_SPECIAL : 0) |
        (parse_special ? Native::TOKENIZE_PARSE_SPECIAL : 0)
    end
  end
  private_constant :Arguments
end

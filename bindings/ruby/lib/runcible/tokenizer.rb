# frozen_string_literal: true

module Runcible
  # :header: rc_tokenizer
  class Tokenizer < Handle
    # :header: rc_tokenizer_open
    def initialize(path)
      super()
      own(Native.tokenizer_open(Arguments.path(path)))
    end

    # :header: rc_tokenize
    def tokenize(text, add_special: true, parse_special: false)
      flags = Arguments.tokenize_flags(add_special, parse_special)
      Native.tokenize(proxy, text, flags)
    end

    # :header: rc_detokenize
    #
    # Invalid UTF-8 becomes U+FFFD; detokenize_bytes keeps the bytes.
    def detokenize(tokens, special: false)
      detokenize_bytes(tokens, special: special)
        .force_encoding(Encoding::UTF_8).scrub
    end

    # :header: rc_detokenize
    def detokenize_bytes(tokens, special: false)
      Native.detokenize(proxy, tokens, special ? 1 : 0)
    end

    # :api: methods rc_tokenizer
  end
end

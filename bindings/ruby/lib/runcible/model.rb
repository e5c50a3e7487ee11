# frozen_string_literal: true

module Runcible
  # :header: rc_model
  class Model < Handle
    # The backend that the model was loaded through.
    attr_reader :backend

    # :header: rc_model_load
    #
    # :header: rc_model_options
    #
    # +path+ may be "builtin:NAME", +backend+ a Backend or a device to open. The
    # block receives the fraction done; an exception in the block ends the load.
    def initialize(path, backend = nil, **options, &progress)
      super()
      options = self.class.options(**options)
      path = Arguments.path(path)
      @backend = Backend.from(backend)
      opened = @backend.proxy
      own(Cooperation.wait_for do
        Native.load_model(opened, path, options, progress)
      end)
    end

    # Fetches the parts of a model on a hub that are not yet on this machine, and
    # loads the model. +source+ is "OWNER/NAME", "OWNER/NAME:FILE" or
    # "OWNER/NAME:Q4_K_M", with or without the prefix "hf:"; the rest is as for
    # new.
    #
    # :header: rc_model_fetch
    def self.from_hub(source, backend = nil, revision: "", cache: "", **options, &progress)
      source = "hf:#{source}" unless source.start_with?("hf:")
      cache = Arguments.path(cache)
      path = Cooperation.wait_for do
        Native.model_fetch(source, revision, cache, "")
      end
      new(path, backend, **options, &progress)
    end

    def self.options( # :nodoc:
      # :api: keywords rc_model_options
    )
      Arguments.set(
        Native::Model_options.new,
        # :api: values rc_model_options
      )
    end

    # :api: methods rc_model

    # Returns the model's tokenizer; UnsupportedError if it has none.
    def tokenizer
      handle = proxy
      @tokenizer ||= Tokenizer.__send__(:of, Native.model_get_tokenizer(handle))
    end

    # :header: rc_tokenize
    def tokenize(text, add_special: true, parse_special: false)
      tokenizer.tokenize(text, add_special: add_special,
                               parse_special: parse_special)
    end

    # :header: rc_detokenize
    def detokenize(tokens, special: false)
      tokenizer.detokenize(tokens, special: special)
    end

    # Returns the metadata of the model's file by key: numbers, texts and lists.
    def metadata
      info = Native.model_get_info(proxy)
      Array.new(Native.model_info_metadata_count(info)) do |i|
        key, = Native.model_info_metadata(info, i)
        value = Native.model_info_value(info, key, 0)
        [key, JSON.parse(value, allow_nan: true)]
      end.to_h
    end

    POOLINGS = %i[auto mean cls last].freeze
    private_constant :POOLINGS

    # Makes embeddings of texts: an Array of rows, one for each text, of Floats.
    #
    # +pooling+:: :mean, :cls or :last; default: as the model's file says
    # +normalize+:: true or false; default: as the model's file says
    # +dimensions+:: keeps only the first numbers of each row; 0: all
    # +truncate+:: true truncates texts that are too long
    # +prompt+:: put before each text
    # +prompt_name+:: "query" or "document": one of the model's prompts
    # +priority+, +deadline+:: the deadline in seconds
    #
    # Models that generate text support it if they were loaded with
    # <tt>output: :hidden_rows</tt>.
    def embed(texts, pooling: :auto, normalize: nil, dimensions: 0, truncate: false,
              prompt: nil, prompt_name: nil, priority: 0, deadline: nil)
      number = POOLINGS.index(pooling.to_sym) or
        raise ArgumentError, "pooling must be one of #{POOLINGS.join(", ")}"
      rows_of(Native.model_embed(
                proxy, text_list(texts), number, normalize.nil? ? -1 : (normalize ? 1 : 0),
                dimensions, truncate ? 1 : 0, prompt, prompt_name, priority,
                milliseconds(deadline)
              ))
    end

    # Returns how well each document answers the query: an Array of probabilities,
    # in the order of the documents.
    #
    # +raw_scores+:: true returns the logits of the model instead of probabilities
    # +prompt+:: the question for a model that generates text, with {query} and
    #            {document}
    # +truncate+, +priority+, +deadline+:: as for embed
    #
    # Models that generate text support it if they were loaded with
    # <tt>output: :scores</tt>.
    def rerank(query, documents, raw_scores: false, truncate: false, prompt: nil,
               priority: 0, deadline: nil)
      rows_of(Native.model_rerank(
                proxy, query, text_list(documents), raw_scores ? 1 : 0,
                truncate ? 1 : 0, prompt, priority, milliseconds(deadline)
              )).map(&:first)
    end

    # Makes an empty session, see Session; with a block, it is closed at its end.
    def session(**options, &)
      Session.open(self, **options, &)
    end

    private

    def text_list(texts)
      texts.each_with_object(Native::Text_list.new) { |text, list| list.add(text) }
    end

    def milliseconds(deadline)
      deadline.nil? ? 0 : (deadline * 1000).ceil
    end

    def rows_of(embedding)
      Cooperation.wait_for { Native.embedding_wait(embedding, -1) }
      bytes, rows, columns = Native.embedding_rows(embedding)
      numbers = bytes.unpack("f*")
      Array.new(rows) { |row| numbers[row * columns, columns] }
    end

    def description
      report = self.report
      " #{report.name.inspect} (#{report.architecture}) on #{report.device}"
    end
  end

  # :header: rc_model_plan
  #
  # The options are those of Model.new.
  def self.plan(path, backend = nil, **options)
    options = Model.options(**options)
    path = Arguments.path(path)
    opened = Backend.from(backend)
    made = Cooperation.wait_for do
      Native.model_plan(path, options, opened.proxy)
    end
    Reports.plan(made)
  end

  # :header: rc_model_verify
  def self.verify(path)
    path = Arguments.path(path)
    Cooperation.wait_for { Native.model_verify(path) }
    nil
  end
end

using System;
using System.Collections.Generic;
using Runcible.Native;

namespace Runcible {
  /// <summary>What to generate and how to choose. What is null has the default
  /// of the library.</summary>
  public sealed class GenerateOptions {
    /// <summary>Delivers the prompt as the first piece.</summary>
    public bool? Echo { get; set; }

    /// <summary>The most tokens to generate; -1: until the context is
    /// full.</summary>
    public long? MaxTokens { get; set; }

    /// <summary>From the start on; then the generation ends with what it
    /// has.</summary>
    public TimeSpan? Deadline { get; set; }

    /// <summary>Greater ones are served first; 0 is normal.</summary>
    public int? Priority { get; set; }

    /// <summary>The same seed, options and logits give the same
    /// tokens.</summary>
    public ulong? Seed { get; set; }

    /// <summary>0: always the most probable token.</summary>
    public double? Temperature { get; set; }

    /// <summary>Choose among so many; 0: off.</summary>
    public int? TopK { get; set; }

    /// <summary>Choose among the most probable that together have this
    /// probability, (0, 1]; 1: off.</summary>
    public double? TopP { get; set; }

    /// <summary>Choose among those at least so probable as this fraction of
    /// the most probable, [0, 1]; 0: off.</summary>
    public double? MinP { get; set; }

    /// <summary>Locally typical sampling (arXiv:2202.00666), (0, 1]; 1:
    /// off.</summary>
    public double? TypicalP { get; set; }

    /// <summary>How many of the last tokens the penalties look at; 0: none,
    /// -1: all.</summary>
    public int? PenaltyTokens { get; set; }

    /// <summary>Logits of tokens seen are divided (if positive) or multiplied
    /// (if negative) by it; 1: off.</summary>
    public double? RepetitionPenalty { get; set; }

    /// <summary>Subtracted once from the logits of tokens seen.</summary>
    public double? PresencePenalty { get; set; }

    /// <summary>Subtracted from the logits of tokens seen, per
    /// occurrence.</summary>
    public double? FrequencyPenalty { get; set; }

    /// <summary>The model's own end tokens do not stop it.</summary>
    public bool? IgnoreEos { get; set; }

    /// <summary>Gives logprobs of each token and of so many of the most
    /// probable, at most 64, before bias and penalties; -1: none.</summary>
    public int? Logprobs { get; set; }


    /// <summary>The prompt as tokens, in place of a text.</summary>
    public int[] PromptTokens { get; set; }

    /// <summary>Texts that end the generation and are no part of it.</summary>
    public IEnumerable<string> Stop { get; set; }

    /// <summary>Tokens that end the generation.</summary>
    public int[] StopTokens { get; set; }

    /// <summary>Added to the logits of tokens; minus infinity forbids
    /// one.</summary>
    public IReadOnlyDictionary<int, float> LogitBias { get; set; }

    /// <summary>Adds what the model wants around a prompt at the start of a
    /// session.</summary>
    public bool AddSpecial { get; set; } = true;

    /// <summary>Recognises the text of special tokens in the prompt as those
    /// tokens. Do not use it on text from people you do not trust.</summary>
    public bool ParseSpecial { get; set; }

    internal static uint TokenizeFlags(bool addSpecial, bool parseSpecial) =>
        (addSpecial ? (uint)native.TOKENIZE_ADD_SPECIAL : 0)
        | (parseSpecial ? (uint)native.TOKENIZE_PARSE_SPECIAL : 0);

    /// The library's own, with a prompt unless it is null.
    internal generate_options Make(string prompt) {
      var made = new generate_options();
      try {
        Set(made, prompt);
        return made;
      } catch {
        made.Dispose();
        throw;
      }
    }

    private void Set(generate_options made, string prompt) {
      if (prompt != null) {
        byte[] text = Memory.Encode(prompt);
        made.set_prompt(text, (ulong)text.Length);
      }
      if (PromptTokens != null) {
        made.set_prompt_tokens(PromptTokens, (ulong)PromptTokens.Length);
      }
      foreach (string text in Stop ?? new string[0]) {
        made.add_stop(Memory.Name(text));
      }
      if (StopTokens != null) {
        made.set_stop_tokens(StopTokens, (ulong)StopTokens.Length);
      }
      if (LogitBias != null) {
        foreach (var bias in LogitBias) {
          made.add_logit_bias(bias.Key, bias.Value);
        }
      }
      made.tokenize_flags = TokenizeFlags(AddSpecial, ParseSpecial);
      if (Echo.HasValue) {
        made.echo = Echo.Value ? 1 : 0;
      }
      if (MaxTokens.HasValue) {
        made.max_tokens = MaxTokens.Value;
      }
      if (Deadline.HasValue) {
        made.deadline_ms =
            Limits.Milliseconds(Deadline.Value, nameof(Deadline));
      }
      if (Priority.HasValue) {
        made.priority = Priority.Value;
      }
      if (Seed.HasValue) {
        made.seed = Seed.Value;
      }
      if (Temperature.HasValue) {
        made.temperature = (float)Temperature.Value;
      }
      if (TopK.HasValue) {
        made.top_k = TopK.Value;
      }
      if (TopP.HasValue) {
        made.top_p = (float)TopP.Value;
      }
      if (MinP.HasValue) {
        made.min_p = (float)MinP.Value;
      }
      if (TypicalP.HasValue) {
        made.typical_p = (float)TypicalP.Value;
      }
      if (PenaltyTokens.HasValue) {
        made.penalty_tokens = PenaltyTokens.Value;
      }
      if (RepetitionPenalty.HasValue) {
        made.repetition_penalty = (float)RepetitionPenalty.Value;
      }
      if (PresencePenalty.HasValue) {
        made.presence_penalty = (float)PresencePenalty.Value;
      }
      if (FrequencyPenalty.HasValue) {
        made.frequency_penalty = (float)FrequencyPenalty.Value;
      }
      if (IgnoreEos.HasValue) {
        made.ignore_eos = IgnoreEos.Value ? 1 : 0;
      }
      if (Logprobs.HasValue) {
        made.logprobs = Logprobs.Value;
      }
    }
  }
}

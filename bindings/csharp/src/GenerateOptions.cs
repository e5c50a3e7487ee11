using System.Collections.Generic;
using Runcible.Native;

namespace Runcible {
  public sealed partial class GenerateOptions {
    /// <summary>The prompt as tokens, in place of a text.</summary>
    public int[] PromptTokens { get; set; }

    /// <summary>Texts that end the generation and are not part of it.</summary>
    public IEnumerable<string> Stop { get; set; }

    /// <summary>Tokens that end the generation.</summary>
    public int[] StopTokens { get; set; }

    /// <summary>Numbers to add to the logits of tokens; minus infinity forbids
    /// a token.</summary>
    public IReadOnlyDictionary<int, float> LogitBias { get; set; }

    /// <summary>The grammar of the text; null: none.</summary>
    public Grammar Grammar { get; set; }

    /// <summary>Adds the tokens that the model wants around a prompt in a new
    /// session.</summary>
    public bool AddSpecial { get; set; } = true;

    /// <summary>Recognises the text of special tokens in the prompt as those
    /// tokens. Do not use it on text from people you do not trust.</summary>
    public bool ParseSpecial { get; set; }

    internal static uint TokenizeFlags(bool addSpecial, bool parseSpecial) =>
        (addSpecial ? (uint)native.TOKENIZE_ADD_SPECIAL : 0)
        | (parseSpecial ? (uint)native.TOKENIZE_PARSE_SPECIAL : 0);

    /// Makes options for the library, with a prompt unless it is null.
    internal generate_options Make(string prompt) {
      var made = new generate_options();
      try {
        Set(made);
        SetLists(made, prompt);
        return made;
      } catch {
        made.Dispose();
        throw;
      }
    }

    private void SetLists(generate_options made, string prompt) {
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
      if (Grammar != null) {
        made.set_grammar(Grammar.handle);
      }
      made.tokenize_flags = TokenizeFlags(AddSpecial, ParseSpecial);
    }
  }
}

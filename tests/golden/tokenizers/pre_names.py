"""How models cut, by the names of tokenizer.ggml.pre that PRE in make.py does not have.

The steps are as in PRE. The expressions are those of the tokenizer.json of the models, or of their code.
"""

from make import BLANKS, CONTRACTION, DEEPSEEK3, GPT4O, LLAMA3, LOWER, QWEN2, UPPER

KIMI_UPPER, KIMI_LOWER = UPPER[:-1] + r"&&[^\p{Han}]]", LOWER[:-1] + r"&&[^\p{Han}]]"
CHINESE = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
SENTENCES = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
RUNS = "|".join([r"\s{%d}(?!\S)" % (1 << n) for n in range(9, 1, -1)])

# names: (steps, ignore_merges)
MORE = {
    "phi-2 jina-es jina-de jina-v2-es jina-v2-de jina-v1-en jina-v2-code roberta-bpe gigachat a.x-4.0 mellum modern-bert "
    "exaone4 jais olmo trillion granite-docling": (["gpt-2"], False),
    "falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano glm4 glm5": ([LLAMA3], True),
    "dbrx chatglm-bpe": ([LLAMA3], False),
    "minicpm5": ([r"\p{N}{1,3}", LLAMA3.replace("{1,3}", "+")], True),
    "jais-2": ([LLAMA3[:LLAMA3.index(r"|\s+(?!\S)")] + "|" + RUNS + r"|\s{1,2}(?!\S)|\s{1}"], False),
    "deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2": ([QWEN2], False),
    "ufakzeka": ([QWEN2[len(CONTRACTION) + 1:]], False),
    "laguna": ([r"[^\n]+|[\n]+", QWEN2], False),
    "bailingmoe bailingmoe2 llada-moe": ([r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
                                          r"|\s*[\r\n]|\s+(?!\S)|\s+"], False),
    "exaone-moe": ([CONTRACTION + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?"
                    r"|\s*[\r\n]|\s+(?!\S)|\s+"], False),
    "codeshell exaone minerva-7b mellum2": (["digits", "gpt-2"], False),
    "hunyuan-dense joyai-llm hy_v4": ([r"\p{N}{1,3}", CHINESE, DEEPSEEK3], False),
    "spark2_5": ([r"\p{N}{1,3}", CHINESE, DEEPSEEK3.replace("[\\r\\n]*|" + BLANKS, r"|[\r\n]|\s+(?!\S)|\s+"), r"\p{N}"], False),
    "afmoe": ([r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))",
               "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f\u0e80-"
               "\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+", DEEPSEEK3], False),
    "youtu": (["[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f"
               "\ufe30-\ufe4f]+|[\u3105-\u312f]+|" + CHINESE, GPT4O.replace(r"\p{N}{1,3}", r"\p{N}")], True),
    "poro-chat bloom gpt3-finnish": ([SENTENCES], False),
    "viking": ([SENTENCES, "digits"], False),
    "llama4 kanana2 talkie minimax-m2": ([GPT4O], False),
    "granite-embed-multi-97m": ([GPT4O], True),
    "tiny_aya cohere2moe": ([r"\d{1,3}(?=(?:\d{3})*\b)", GPT4O], False),
    "kimi-k2": ([rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?{KIMI_UPPER}*{KIMI_LOWER}+{CONTRACTION}?|[^\r\n\p{{L}}\p{{N}}]?"
                 rf"{KIMI_UPPER}+{KIMI_LOWER}*{CONTRACTION}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|" + BLANKS], False),
    "chameleon": ([r"<sentinel:[0-9]+>", r"(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", "digits",
                   r"[\p{P}!-/:-@\[-`{-~]", "gpt-2"], False),
}

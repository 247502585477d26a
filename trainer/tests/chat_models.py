"""Tokenizers in the ways of six families of models, made small: their markers, turns and ends.

The templates are written after the families' published descriptions of their prompts.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GenerationConfig, PreTrainedTokenizerFast

_CHATML = """\
{%- if messages[0]['role'] != 'system' -%}
{{- '<|im_start|>system\\n' + rules + '<|im_end|>\\n' }}
{%- endif -%}
{%- for message in messages -%}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif -%}
"""

_QWEN3 = """\
{%- for message in messages -%}
{{- '<|im_start|>' + message['role'] + '\\n' }}
{%- if message['role'] == 'assistant' and loop.last -%}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- endif -%}
{{- message['content'] + '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false -%}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- endif -%}
{%- endif -%}
"""

_LLAMA_3 = """\
{{- bos_token -}}
{%- for message in messages -%}
{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}
{{- message['content'] | trim + '<|eot_id|>' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif -%}
"""

_GEMMA = """\
{{- bos_token -}}
{%- if messages[0]['role'] == 'system' -%}
{{ raise_exception('there is no system turn') }}
{%- endif -%}
{%- for message in messages -%}
{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
{{ raise_exception('turns must alternate') }}
{%- endif -%}
{{- '<start_of_turn>' + ('model' if message['role'] == 'assistant' else 'user') + '\\n' }}
{{- message['content'] | trim + '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt %}{{- '<start_of_turn>model\\n' }}{% endif -%}
"""

_MISTRAL = """\
{{- bos_token -}}
{%- set rules = messages[0]['content'] + '\\n\\n' if messages[0]['role'] == 'system' else '' -%}
{%- set newest = messages | selectattr('role', 'equalto', 'user') | list | last -%}
{%- for message in messages -%}
{%- if message['role'] == 'user' -%}
{{- '[INST]' + (rules if message is sameas newest else '') + message['content'] + '[/INST]' }}
{%- elif message['role'] == 'assistant' -%}
{{- message['content'] + eos_token }}
{%- endif -%}
{%- endfor -%}
"""


@dataclass(frozen=True)
class Family:
    template: str
    markers: tuple[str, ...]
    """Control tokens; their ids follow the 256 bytes."""
    end: str
    ends: tuple[str, ...]
    """By its generation configuration."""
    rules: str
    """What it writes of the turns `Be brief.`, `2 + 2?` before its reply."""
    bos: str | None = None
    system: bool = True
    words: tuple[str, ...] = ()
    """Tokens of its own that are no control tokens: texts show them."""


_QWEN = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_THINK = ("<think>", "</think>")
_LLAMA = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
)

FAMILIES = {
    "Qwen2.5": Family(
        "{%- set rules = 'You are Qwen.' -%}" + _CHATML,
        _QWEN,
        "<|im_end|>",
        ("<|im_end|>", "<|endoftext|>"),
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n2 + 2?<|im_end|>\n"
        "<|im_start|>assistant\n",
    ),
    "Qwen3": Family(
        _QWEN3,
        _QWEN,
        "<|im_end|>",
        ("<|im_end|>", "<|endoftext|>"),
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n2 + 2?<|im_end|>\n"
        "<|im_start|>assistant\n<think>\n\n</think>\n\n",
        words=_THINK,
    ),
    "Llama 3": Family(
        _LLAMA_3,
        _LLAMA,
        "<|eot_id|>",
        ("<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"),
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\n2 + 2?<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n",
        bos="<|begin_of_text|>",
    ),
    "Gemma": Family(
        _GEMMA,
        ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"),
        "<end_of_turn>",
        ("<eos>", "<end_of_turn>"),
        "<bos><start_of_turn>user\nBe brief.\n\n2 + 2?<end_of_turn>\n<start_of_turn>model\n",
        bos="<bos>",
        system=False,
    ),
    "Mistral": Family(
        _MISTRAL,
        ("<s>", "</s>", "[INST]", "[/INST]"),
        "</s>",
        ("</s>",),
        "<s>[INST]Be brief.\n\n2 + 2?[/INST]",
        bos="<s>",
    ),
    "SmolLM2": Family(
        "{%- set rules = 'You help.' -%}" + _CHATML,
        _QWEN,
        "<|im_end|>",
        ("<|im_end|>",),
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n2 + 2?<|im_end|>\n"
        "<|im_start|>assistant\n",
    ),
}

_ALWAYS = _QWEN3.replace(
    "enable_thinking is defined and enable_thinking is false", "false"
).replace("assistant\\n' }}", "assistant\\n<think>\\n' }}")
_QWEN_3 = FAMILIES["Qwen3"]

THINKERS = {
    "Qwen3": _QWEN_3,
    "Qwen3 Thinking": replace(_QWEN_3, template=_ALWAYS),
    "DeepSeek R1": replace(
        _QWEN_3,
        template=_ALWAYS.replace("<think>\\n\\n</think>\\n\\n' }}\n{%- endif", "' }}\n{%- endif"),
    ),
    "SmolLM3": replace(
        _QWEN_3,
        template="{{- '/think\\n' if enable_thinking else '/no_think\\n' }}"
        + _QWEN3.replace("and loop.last", "and loop.last and not enable_thinking"),
    ),
    "Magistral": replace(
        _QWEN_3,
        template=_QWEN3.replace("<think>", "[THINK]").replace("</think>", "[/THINK]"),
        markers=(*_QWEN, "[THINK]", "[/THINK]"),
    ),
}
"""Families that think: if not told to leave it, always, and with an end that texts lack."""


def make_tokenizer(folder: Path, family: Family, **changes: Any) -> PreTrainedTokenizerFast:
    """Writes a tokenizer of bytes and markers, and the generation configuration of its model."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({each: at for at, each in enumerate(alphabet)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token=family.end,
        additional_special_tokens=[*family.markers],
        chat_template=family.template,
        **({} if family.bos is None else {"bos_token": family.bos}),
        **changes,
    )
    tokenizer.add_tokens([*family.words])
    tokenizer.save_pretrained(folder)
    ids: Any = tokenizer.convert_tokens_to_ids([*family.ends])
    GenerationConfig(eos_token_id=ids).save_pretrained(folder)
    return tokenizer

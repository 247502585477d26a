"""Prompts, ends and masks come from a model's own chat template, whoever wrote that."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from chat_models import FAMILIES, THINKERS, Family, make_tokenizer
from conductor_trainer import chat_template
from conductor_trainer.chat import compared_prompts, prepare, prompts_of, read_chat
from conductor_trainer.checkpoint import Chat, Record, Thoughts
from conductor_trainer.contract import JsonObject
from conductor_trainer.errors import ModelInvalid, ServerRefused
from conductor_trainer.policy_server.policy_cache import Policy, PolicyCache
from conductor_trainer.policy_server.service import PolicyService
from conductor_trainer.thoughts import require_thoughts
from conductor_trainer.train.warm_start import IGNORED, read_examples
from conductor_trainer.worker.policy_server import PolicyServer
from conductor_trainer.worker.same_prompts import require_same_prompts
from serving import serving

ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}]
REPLY = 'model_id = [0]\nsubtasks = ["Größe"]\naccess_list = [[]]'
each_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=[*FAMILIES])


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@each_family
def test_its_template_writes_prompts_and_its_configuration_ends_replies(
    family: Family, tmp_path: Path
) -> None:
    tokenizer: Any = make_tokenizer(tmp_path, family)
    chat = read_chat(tmp_path, tokenizer)
    assert chat.system is family.system
    assert {*chat.markers} == {*family.markers}
    assert tokenizer.convert_ids_to_tokens(chat.ends[0]) == family.end
    assert {*chat.ends} == {*tokenizer.convert_tokens_to_ids([*family.ends])}
    (prompt,) = prompts_of(tokenizer, chat, [ASKED])
    assert tokenizer.decode(prompt) == family.rules
    plain, quoting = prompts_of(
        tokenizer, chat, [ASKED, [ASKED[0], {"role": "user", "content": "".join(family.markers)}]]
    )
    controls = {*tokenizer.convert_tokens_to_ids([*family.markers])}
    assert [each for each in quoting if each in controls] == [
        each for each in plain if each in controls
    ]


@each_family
def test_a_mask_covers_the_reply_and_the_end_of_its_turn(family: Family, tmp_path: Path) -> None:
    tokenizer: Any = make_tokenizer(tmp_path, family)
    chat = read_chat(tmp_path, tokenizer)
    quoting = REPLY + "".join(family.markers)
    (whole,) = chat_template.render(
        tokenizer,
        [prepare(chat, [*ASKED, {"role": "assistant", "content": quoting}])],
        to_reply=False,
    )
    examples = lines(
        tmp_path / "examples",
        {"messages": ASKED, "completion": quoting},
        {"prompt": family.rules, "completion": REPLY + family.end},
    )
    row, written_out = read_examples(examples, tokenizer, chat)
    shown = [label for label in row["labels"] if label != IGNORED]
    assert row["input_ids"][-len(shown) :] == shown
    assert tokenizer.decode(row["input_ids"]) == whole.removesuffix("\n")
    assert tokenizer.decode(shown).startswith(REPLY)
    assert [each for each in shown if each in chat.ends] == shown[-1:]
    assert tokenizer.decode(written_out["input_ids"]) == family.rules + REPLY + family.end


def serve_tokenizer(tokenizer: Any) -> PolicyService:
    unused: Any = None
    policy = Policy(unused, tokenizer, frozenset(), 4096)
    return PolicyService(
        PolicyCache({"night-base": Path("night")}, in_memory=1, read=lambda _: policy)
    )


def record_of(chat: Chat) -> Any:
    unused: Any = None
    return Record("", "model", "model", "model", "", "", 300, 0, unused, config={}, chat=chat)


async def compare(url: str, prompts: Sequence[JsonObject]) -> None:
    async with httpx.AsyncClient() as client:
        server = PolicyServer(f"{url}/v1", client)
        await require_same_prompts(server, "night-base", "model", prompts)


@pytest.mark.anyio
@each_family
async def test_server_and_trainer_write_the_same_prompts(family: Family, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    tokenizer = make_tokenizer(folder, family)
    chat = read_chat(folder, tokenizer)
    later = [{"role": "assistant", "content": REPLY}, {"role": "user", "content": "</s> Sure?"}]
    asked = lines(tmp_path / "prompts", ASKED, ASKED + later)
    prompts = compared_prompts(tokenizer, chat, asked, {})
    with serving(serve_tokenizer(tokenizer).routes) as url:
        await compare(url, prompts)
    for template, fault in (
        (
            "Now: " + family.template,
            r"writes prompt 1 of 2 \('.*2 \+ 2\?'\) otherwise than the trainer: at position 0 it "
            r"has token \d+, the trainer token \d+\. Start it",
        ),
        ("{{ raise_exception('no such turn') }}", r"tokenize answers 400: .*no such turn"),
    ):
        tokenizer.chat_template = template
        with (
            serving(serve_tokenizer(tokenizer).routes) as url,
            pytest.raises(ServerRefused, match=fault),
        ):
            await compare(url, prompts)


@pytest.mark.anyio
async def test_prompts_of_a_policy_that_thinks_leave_room_for_thoughts(tmp_path: Path) -> None:
    folder, family = tmp_path / "model", THINKERS["Qwen3"]
    tokenizer: Any = make_tokenizer(folder, family)
    chat = read_chat(folder, tokenizer)
    asked = lines(tmp_path / "prompts", ASKED)
    prompts = compared_prompts(tokenizer, chat, asked, {"thinking": "masked"})
    written = tokenizer.decode(prompts[0]["tokenIds"])
    assert family.rules == written + "<think>\n\n</think>\n\n"
    with serving(serve_tokenizer(tokenizer).routes) as url:
        await compare(url, prompts)
    tokenizer.chat_template = tokenizer.chat_template.replace("enable_thinking is defined and", "")
    tokenizer.chat_template = tokenizer.chat_template.replace("enable_thinking is false", "true")
    with (
        serving(serve_tokenizer(tokenizer).routes) as url,
        pytest.raises(ServerRefused, match="the trainer no token"),
    ):
        await compare(url, prompts)


ENDS = {"Qwen3": "</think>", "Qwen3 Thinking": "</think>", "SmolLM3": "</think>"}
"""What ends thoughts, by the families of which a reply's text shows it."""

OFF: JsonObject = {}
MASKED: JsonObject = {"thinking": "masked"}


@pytest.mark.parametrize("name", THINKERS)
def test_the_end_of_thoughts_is_what_the_template_writes(name: str, tmp_path: Path) -> None:
    tokenizer: Any = make_tokenizer(tmp_path, THINKERS[name])
    chat, end = read_chat(tmp_path, tokenizer), ENDS.get(name)
    if end is not None:
        assert chat.thoughts == Thoughts(tokenizer.convert_tokens_to_ids(end), end)
        require_thoughts(tokenizer, chat, MASKED)
        return
    assert chat.thoughts is None
    with pytest.raises(ModelInvalid, match="nothing tells where this policy's thoughts end"):
        require_thoughts(tokenizer, chat, MASKED)


@pytest.mark.parametrize("name", ["Qwen3 Thinking", "DeepSeek R1"])
def test_a_model_that_cannot_be_told_not_to_think_is_named(name: str, tmp_path: Path) -> None:
    tokenizer: Any = make_tokenizer(tmp_path, THINKERS[name])
    chat = read_chat(tmp_path, tokenizer)
    remedy = "set `training.policy.thinking` to `masked`, or start" if name in ENDS else "start"
    with pytest.raises(ModelInvalid, match=f"although it is told not to .*: {remedy} from a model"):
        require_thoughts(tokenizer, chat, OFF)
    example = {"messages": ASKED, "completion": REPLY}
    with pytest.raises(ModelInvalid, match="examples have none: start without"):
        read_examples(lines(tmp_path / "examples", example), tokenizer, chat)


@pytest.mark.parametrize("family", [*FAMILIES.values(), THINKERS["SmolLM3"], THINKERS["Magistral"]])
def test_all_others_can_be_asked_without_thoughts(family: Family, tmp_path: Path) -> None:
    tokenizer = make_tokenizer(tmp_path, family)
    chat = read_chat(tmp_path, tokenizer)
    require_thoughts(tokenizer, chat, OFF)
    assert (chat.thoughts is None) == (not family.words or "[THINK]" in family.template)


GEMMA, QWEN = FAMILIES["Gemma"], FAMILIES["Qwen2.5"]


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (replace(QWEN, template=""), "has no chat template, by which prompts"),
        (replace(QWEN, ends=("<|endoftext|>",)), ""),
        (
            replace(GEMMA, end="<eos>", ends=("<eos>",)),
            r"ends a reply with '<end_of_turn>\\n', and its first token is not an eos_token_id",
        ),
        (
            replace(QWEN, template="{{ messages[0]['content'] }}<|im_end|>"),
            r"ends a reply with|leaves turns of a conversation out",
        ),
        (
            replace(QWEN, template=QWEN.template.replace("<|im_end|>", "<|over|>")),
            r"ends a reply with '<\|over\|>",
        ),
        (replace(QWEN, template="{% if"), "cannot write a prompt: TemplateSyntaxError"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(
    family: Family, message: str, tmp_path: Path
) -> None:
    tokenizer = make_tokenizer(tmp_path, family)
    if message == "":
        # The tokenizer's own end counts, too.
        assert len(read_chat(tmp_path, tokenizer).ends) == 2
        return
    with pytest.raises(ModelInvalid, match=message):
        read_chat(tmp_path, tokenizer)


def test_a_tokenizer_that_mends_broken_markers_is_refused(tmp_path: Path) -> None:
    from tokenizers import AddedToken, normalizers

    tokenizer: Any = make_tokenizer(tmp_path, QWEN)
    backend = tokenizer.backend_tokenizer
    backend.normalizer = normalizers.Replace("< |", "<|")
    backend.add_special_tokens(
        [AddedToken(each, special=True, normalized=True) for each in QWEN.markers]
    )
    with pytest.raises(ModelInvalid, match=r"reads its marker '.*' even where a blank breaks it"):
        read_chat(tmp_path, tokenizer)


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        (
            "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
            "{% endfor %}{% endfor %}{% endfor %}",
            "it took (longer|more) than 1 s",
        ),
        ("{{ (10 ** 9) ** (10 ** 8) }}", "it took (longer|more) than 1 s"),
        (
            "{% set ns = namespace(x='a' * 99) %}{% for i in range(99) %}"
            "{% set ns.x = ns.x * 9 %}{% endfor %}",
            "MemoryError|it took more than 30 s or 1024 MiB",
        ),
        ("{{ 'a' * 9999999 }}", "it makes 9999999 characters of a short conversation"),
        ("{{ ''.__class__.__mro__ }}", "SecurityError"),
        ("{{ messages.append(messages[0]) }}", "SecurityError"),
        ("{% include '/etc/passwd' %}", "no loader for this environment"),
    ],
)
def test_a_hostile_template_ends(
    template: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "1 s" in fault:
        monkeypatch.setattr(chat_template, "_SECONDS", 1)
    tokenizer = make_tokenizer(tmp_path, replace(QWEN, template=template))
    with pytest.raises(ModelInvalid, match=f"cannot write a prompt: .*({fault})"):
        read_chat(tmp_path, tokenizer)


CASES = Path(__file__).parents[2] / "test/training/policy/prepared-turns.json"


@pytest.mark.parametrize("case", json.loads(CASES.read_text()), ids=lambda case: case["about"])
def test_messages_are_prepared_as_they_are_for_a_policy_server(case: Any) -> None:
    assert prepare(Chat(**case["chat"]), case["turns"]) == case["prepared"]

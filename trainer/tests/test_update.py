"""An update learns just as TRL does, from where the last one ended."""

import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from safetensors.torch import load_file
from trl.trainer.grpo_trainer import GRPOTrainer

import measured_update
from conductor_trainer import model
from conductor_trainer.checkpoint import MOMENTS_FOLDER, TRAINER_FOLDER, require_record
from conductor_trainer.contract import Config
from conductor_trainer.errors import BadRequest, BatchInvalid, ModelInvalid, NonFiniteLoss
from conductor_trainer.model import load_policy, load_tokenizer
from conductor_trainer.step.main import perform
from conductor_trainer.train.grpo_config import grpo_config
from conductor_trainer.train.launch import launch
from conductor_trainer.train.record import Made, probed_tokens, take_probe
from conductor_trainer.train.tensors import LEARNED
from tiny_run import (
    FULL,
    LORA,
    TINY_CHAT,
    begin,
    checkpoint,
    config_of,
    learn,
    rows_of_batch,
    signed,
    update_request,
    weights,
    write_batch,
)
from uninterrupted import learn_uninterrupted, tensors_of

PARENTS = ("warm", "000001", "000002")


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("full")
    begin(root, tmp_path_factory.mktemp("files"), config_of())
    return root


@pytest.fixture(scope="module")
def adapted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("lora")
    begin(root, tmp_path_factory.mktemp("files"), config_of(tuning=LORA))
    return root


@pytest.fixture
def root(warm: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(warm, tmp_path / "checkpoints"))


LOSSES = ("dapo", "grpo", "bnpo", "dr_grpo")


@pytest.mark.parametrize("micro", [1, 3, 8])
@pytest.mark.parametrize("loss", LOSSES)
def test_it_learns_what_stock_trl_learns_from_the_whole_batch_at_once(
    root: Path, loss: str, micro: int
) -> None:
    config = config_of(loss={"name": loss}, microBatch=micro)
    rows = rows_of_batch(root, "warm", config)
    metrics = learn(root, 1, "warm", config, rows)["metrics"]
    require_equal(root, metrics, stock_trainer(root, config, rows))
    assert require_record(root, checkpoint("000001")).step == 2


@pytest.mark.parametrize("micro", [2, 4])
@pytest.mark.parametrize("loss", ["dapo", "grpo", "dr_grpo"])
def test_each_minibatch_is_a_step_of_its_own_as_in_stock_trl(
    root: Path, loss: str, micro: int
) -> None:
    # With Adam's usual `epsilon`, a gradient that is all rounding moves a weight by as much as any.
    fast = {"warmupSteps": 0, "epsilon": 1e-6}
    config = config_of(
        loss={"name": loss}, optimizer=fast, microBatch=micro, iterations=1, minibatches=2
    )
    rows = rows_of_batch(root, "warm", config)
    metrics = learn(root, 1, "warm", config, rows)["metrics"]
    # What the first step changed counts as a change of the policy, and so is clipped.
    assert metrics["clipShare"] > 0
    require_equal(root, metrics, stock_trainer(root, config, rows))
    assert require_record(root, checkpoint("000001")).step == 2


@pytest.mark.parametrize("micro", [3, 8])
@pytest.mark.parametrize("loss", LOSSES)
def test_it_corrects_for_the_sampler_and_masks_as_trl_does_beside_vllm(
    root: Path, loss: str, micro: int
) -> None:
    corrections = ("token_truncate", "token_mask", "sequence_truncate", "sequence_mask")
    changes = {"correction": corrections[LOSSES.index(loss)], "mostWeight": 1.2}
    config = config_of(loss={"name": loss, "maskTruncated": True, **changes}, microBatch=micro)
    rows = rows_of_batch(root, "warm", config)
    for at, row in enumerate(rows):
        # Every other reply is beyond the limit, by one token as well as whole.
        row["sampledLogprobs"][0] -= (0.3, 0.05)[at % 2]
    rows[2] = cut_off(rows[2])
    metrics = learn(root, 1, "warm", config, rows)["metrics"]
    assert metrics["weight"] != pytest.approx(1, abs=1e-4)
    assert 0 < metrics["weightLimited"] < 1
    require_equal(root, metrics, stock_trainer(root, config, rows))


@pytest.mark.parametrize("micro", [3, 8])
@pytest.mark.parametrize(
    "loss",
    [
        {"name": "grpo", "ratio": "sequence"},
        {"name": "bnpo", "ratio": "sequence", "entropy": 0.5},
        {"name": "grpo", "entropy": 0.5},
        {"name": "dapo", "entropy": 0.5},
        {"name": "dr_grpo", "entropy": 0.5},
    ],
)
def test_ratios_of_whole_replies_and_the_entropy_bonus_are_those_of_trl(
    root: Path, loss: dict[str, Any], micro: int
) -> None:
    config = config_of(loss=loss, microBatch=micro)
    rows = rows_of_batch(root, "warm", config)
    metrics = learn(root, 1, "warm", config, rows)["metrics"]
    require_equal(root, metrics, stock_trainer(root, config, rows))


def with_thoughts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns rows that begin with thoughts: the first with none, the last with nothing else."""
    last = len(rows[-1]["completionTokenIds"])
    return [
        {**row, "thoughtTokens": last if at == len(rows) - 1 else 3 * at}
        for at, row in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("loss", "minibatches"),
    [
        ({"name": "dapo", "entropy": 0.5}, 1),
        ({"name": "bnpo", "correction": "sequence_truncate", "mostWeight": 1.2}, 1),
        ({"name": "grpo", "ratio": "sequence"}, 1),
        ({"name": "dr_grpo", "correction": "token_mask", "mostWeight": 1.2}, 2),
    ],
)
def test_thoughts_are_read_and_not_learned_as_results_of_tools_in_trl(
    root: Path, loss: dict[str, Any], minibatches: int
) -> None:
    config = config_of(
        loss=loss,
        optimizer={"warmupSteps": 0},
        microBatch=4 // minibatches,
        iterations=2 // minibatches,
        minibatches=minibatches,
    )
    rows = with_thoughts(rows_of_batch(root, "warm", config))
    for row in rows:
        # The sampler's distance is not measured on thoughts.
        row["sampledLogprobs"] = [
            logprob - (9 if at < row["thoughtTokens"] else 0.3)
            for at, logprob in enumerate(row["sampledLogprobs"])
        ]
    metrics = learn(root, 1, "warm", config, rows)["metrics"]
    assert metrics["logprobGap"] < 1
    lengths = [len(row["completionTokenIds"]) - row["thoughtTokens"] for row in rows]
    assert metrics["tokens"] == sum(lengths)
    require_equal(root, metrics, stock_trainer(root, config, rows))


@pytest.mark.parametrize("name", LOSSES)
def test_the_entropy_bonus_is_the_mean_entropy_of_a_token(root: Path, name: str) -> None:
    config = config_of(loss={"name": name}, iterations=1, microBatch=3)
    rows = rows_of_batch(root, "warm", config)
    without = learn(root, 1, "warm", config, rows)["metrics"]["loss"]
    shutil.rmtree(root / "night/000001")
    urged = config_of(loss={"name": name, "entropy": 0.5}, iterations=1, microBatch=3)
    with_bonus = learn(root, 1, "warm", urged, rows)["metrics"]["loss"]
    policy: Any = load_policy(root, require_record(root, checkpoint("warm")), config)
    entropies: list[float] = []
    for row in rows:
        ids = torch.tensor([row["promptTokenIds"] + row["completionTokenIds"]])
        with torch.no_grad():
            logits_TV = policy(ids).logits[0, len(row["promptTokenIds"]) - 1 : -1].float()
        entropies += torch.distributions.Categorical(logits=logits_TV).entropy().tolist()
    mean = sum(entropies) / len(entropies)
    assert mean > 0.01
    assert without - with_bonus == pytest.approx(0.5 * mean, rel=1e-3)


@pytest.mark.parametrize("ratio", ["token", "sequence"])
def test_the_ratio_of_a_reply_is_the_mean_of_its_tokens_and_is_clipped_as_a_whole(
    root: Path, ratio: str
) -> None:
    fast: dict[str, Any] = dict(optimizer={"warmupSteps": 0}, loss={"name": "grpo", "ratio": ratio})
    once = config_of(iterations=1, **fast)
    rows = rows_of_batch(root, "warm", once)
    first = learn(root, 1, "warm", once, rows)["metrics"]["loss"]
    moved = rows_of_batch(root, "000001", once)
    shutil.rmtree(root / "night/000001")
    found = learn(root, 1, "warm", config_of(iterations=2, **fast), rows)["metrics"]

    # Rewards of 0, 0.5, 0.5 and 1 have a deviation of 0.408.
    advantages = [reward / (math.sqrt(1 / 6) + 1e-4) for reward in (-0.5, 0, 0, 0.5)] * 2
    losses: list[float] = []
    clipped: list[bool] = []
    for advantage, old, new in zip(advantages, rows, moved, strict=True):
        gaps = torch.tensor(new["sampledLogprobs"]) - torch.tensor(old["sampledLogprobs"])
        if ratio == "sequence":
            gaps = gaps.mean().expand_as(gaps)
        ratios = gaps.exp()
        kept = torch.minimum(ratios * advantage, ratios.clamp(0.8, 1.28) * advantage)
        losses.append(-kept.mean().item())
        is_out = (ratios > 1.28) if advantage > 0 else (ratios < 0.8)
        clipped += (is_out & torch.tensor(advantage != 0)).tolist()
    second = sum(losses) / len(losses)
    assert found["loss"] == pytest.approx((first + second) / 2, abs=1e-5)
    assert found["clipShare"] == pytest.approx(sum(clipped) / len(clipped) / 2, abs=1e-9)
    assert 0 < sum(clipped) < len(clipped)


def test_a_group_of_equal_rewards_teaches_nothing_and_counts_in_the_denominator(root: Path) -> None:
    config = config_of(iterations=1, loss={"name": "dapo"})
    rows = rows_of_batch(root, "warm", config)
    spread, flat = rows[:4], [{**row, "reward": 0.5} for row in rows[4:]]
    alone = learn(root, 1, "warm", config, spread)["metrics"]
    shutil.rmtree(root / "night/000001")
    both = learn(root, 1, "warm", config, spread + flat)["metrics"]
    tokens = [len(row["completionTokenIds"]) for row in rows]
    share = sum(tokens[:4]) / sum(tokens)
    assert both["gradNorm"] == pytest.approx(alone["gradNorm"] * share, rel=1e-3)


def test_the_largest_advantage_is_told_and_bounded(root: Path) -> None:
    rows = rows_of_batch(root, "warm", config_of())
    advantage = 0.5 / (math.sqrt(1 / 6) + 1e-4)
    free = learn(root, 1, "warm", config_of(), rows)["metrics"]
    assert free["largestAdvantage"] == pytest.approx(advantage)
    shutil.rmtree(root / "night/000001")
    bounded = learn(root, 1, "warm", config_of(maxAdvantage=0.75), rows)["metrics"]
    assert bounded["largestAdvantage"] == 0.75
    shutil.rmtree(root / "night/000001")
    # Twice the rewards 0, 0.5, 0.5 and 1: a deviation of 0.378 over n - 1 = 7.
    whole = learn(root, 1, "warm", config_of(scale="batch"), rows)["metrics"]
    assert whole["largestAdvantage"] == pytest.approx(0.5 / (math.sqrt(1 / 7) + 1e-4))


def cut_off(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the row with its reply cut off five tokens before the end, by the token limit."""
    ids, logprobs = row["completionTokenIds"][:-5], row["sampledLogprobs"][:-5]
    return {
        **row,
        "completionTokenIds": ids,
        "sampledLogprobs": logprobs,
        "finishReason": "length",
    }


def require_equal(root: Path, metrics: Any, stock: GRPOTrainer) -> None:
    """Loss, gradient and weights after both steps."""
    stock.train()
    steps = [entry for entry in stock.state.log_history if "grad_norm" in entry][:2]
    assert metrics["loss"] == pytest.approx(sum(s["loss"] for s in steps) / 2, abs=1e-6)
    assert metrics["gradNorm"] == pytest.approx(sum(s["grad_norm"] for s in steps) / 2, abs=1e-5)
    learned = stock.accelerator.unwrap_model(stock.model).state_dict()
    for name, tensor in weights(root, "000001").items():
        torch.testing.assert_close(tensor, learned[name], atol=1e-4, rtol=0)


def stock_trainer(root: Path, config: Config, rows: list[dict[str, Any]]) -> GRPOTrainer:
    """TRL as it is, the whole batch at once, through its own door for rollouts."""
    record = require_record(root, checkpoint("warm"))
    loss = config["loss"]
    whole: Config = {**config, "microBatch": len(rows) // config["minibatches"]}
    args = grpo_config(whole, 2, root / "stock")
    args.num_generations = config["groupSize"]
    args.max_steps = 2
    args.entropy_coef = loss["entropy"]
    args.mask_truncated_completions = loss["maskTruncated"]
    if loss["correction"] != "none":
        args.vllm_importance_sampling_mode = loss["correction"]
        args.vllm_importance_sampling_clip_max = loss["mostWeight"]

    def rollout(prompts: list[str], trainer: Any) -> dict[str, Any]:
        assert len(prompts) == len(rows)
        # From here on it takes the replies for vLLM's; any earlier it would ask for one.
        trainer.use_vllm = loss["correction"] != "none"
        return {
            "prompt_ids": [row["promptTokenIds"] for row in rows],
            "completion_ids": [row["completionTokenIds"] for row in rows],
            "logprobs": [row["sampledLogprobs"] for row in rows],
            # What came from elsewhere is read there, and not learned.
            "env_mask": [
                [
                    int(at >= row.get("thoughtTokens", 0))
                    for at in range(len(row["completionTokenIds"]))
                ]
                for row in rows
            ],
        }

    return GRPOTrainer(
        model=load_policy(root, record, config),  # pyright: ignore[reportArgumentType]
        args=args,
        train_dataset=Dataset.from_dict({"prompt": ["trivia", "algebra"]}),
        reward_funcs=lambda completions, **_: [row["reward"] for row in rows],
        rollout_func=rollout,
        processing_class=load_tokenizer(root / record.folder),
    )


def test_trl_still_has_the_hooks_that_are_replaced() -> None:
    for hook in (
        "_generate_and_score_completions",
        "_get_per_token_logps_and_entropies",
        "_compute_loss",
        "_load_from_checkpoint",
        "_save_optimizer_and_scheduler",
        "_save_rng_state",
    ):
        assert callable(getattr(GRPOTrainer, hook, None)), hook


def test_trl_scores_a_batch_into_what_the_trainer_hands_over(root: Path) -> None:
    config = config_of()
    rows = with_thoughts(rows_of_batch(root, "warm", config))
    stock = stock_trainer(root, config, rows)
    model: Any = stock.model
    model.train()
    theirs = stock._generate_and_score_completions(
        [{"prompt": topic} for topic in ("trivia", "algebra") for _ in range(4)]
    )
    ours = tensors_of(root, 1, "warm", config, rows)
    theirs[LEARNED] *= theirs["completion_mask"]
    assert set(ours) - set(theirs) == {"rollouts_in_batch"}
    for name in set(ours) & set(theirs):
        torch.testing.assert_close(ours[name], theirs[name], atol=1e-5, rtol=0, check_dtype=False)


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_steps_of_their_own_equal_one_uninterrupted_run_bit_by_bit(
    root: Path, schedule: str
) -> None:
    config = config_of(optimizer={"schedule": schedule, "totalSteps": 8}, microBatch=4)
    # Plans of the first policy throughout: they grow stale, so that ratios and clipping matter.
    rows = rows_of_batch(root, "warm", config, drift=0.02)
    for cycle, parent in enumerate(PARENTS, start=1):
        learn(root, cycle, parent, config, signed(rows, f"night/{parent}"))

    whole = learn_uninterrupted(root, config, rows, cycles=3)
    for name, tensor in weights(root, "000003").items():
        assert torch.equal(tensor, whole[name]), name


@pytest.mark.parametrize("tuning", [FULL, LORA])
def test_a_kl_term_pulls_towards_the_runs_first_checkpoint_after_its_warm_start(
    warm: Path, adapted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tuning: Any
) -> None:
    begun = warm if tuning == FULL else adapted
    root = Path(shutil.copytree(begun, tmp_path / "checkpoints"))
    config = config_of(tuning=tuning, iterations=1, optimizer={"warmupSteps": 0})
    learn(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    rows = rows_of_batch(root, "000001", config)
    without = learn(root, 2, "000001", config, rows)["metrics"]["loss"]
    shutil.rmtree(root / "night/000002")
    pulled = config_of(
        tuning=tuning, iterations=1, optimizer={"warmupSteps": 0}, loss={"beta": 0.5}
    )
    loaded: list[Path] = []
    load = model.load_model

    def load_and_count(folder: Path, *dtype: Any) -> Any:
        loaded.append(folder)
        return load(folder, *dtype)

    monkeypatch.setattr(model, "load_model", load_and_count)
    with_kl = learn(root, 2, "000001", pulled, rows)["metrics"]["loss"]
    monkeypatch.undo()

    first_rows = rows_of_batch(root, "warm", config)
    k3 = [
        math.exp(first - now) - (first - now) - 1
        for first_row, row in zip(first_rows, rows, strict=True)
        for first, now in zip(first_row["sampledLogprobs"], row["sampledLogprobs"], strict=True)
    ]
    assert sum(k3) > 0.01
    assert with_kl - without == pytest.approx(0.5 * sum(k3) / len(k3), rel=1e-3)
    # The reference is an adapter of the model that is there already, and is not saved.
    assert len(loaded) == (2 if tuning == FULL else 1)
    assert not [path for path in (root / "night/000002").rglob("*reference*")]


def test_rewards_below_the_mean_are_unlearned_and_those_above_learned(root: Path) -> None:
    config = config_of(iterations=4)
    rows = rows_of_batch(root, "warm", config)
    learn(root, 1, "warm", config, rows)
    before, after = (
        [sum(row["sampledLogprobs"]) for row in rows_of_batch(root, name, config)]
        for name in ("warm", "000001")
    )
    gains = [late - early for early, late in zip(before, after, strict=True)]
    for group in (gains[:4], gains[4:]):
        assert group[3] > max(group[1], group[2]) > group[0]


def test_a_short_batch_is_filled_up_with_rows_that_teach_nothing(root: Path) -> None:
    rows = rows_of_batch(root, "warm", config_of())
    exact = learn(root, 1, "warm", config_of(), rows)["metrics"]
    shutil.rmtree(root / "night/000001")
    longer = learn(root, 1, "warm", config_of(rollouts=13, microBatch=4), rows)["metrics"]
    for name in ("loss", "gradNorm", "ratio", "entropy", "tokens", "kl"):
        assert longer[name] == pytest.approx(exact[name], abs=1e-5), name


def test_a_micro_batch_is_as_wide_as_its_own_longest_row(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(iterations=1, microBatch=1, loss={"beta": 0.1})
    rows = rows_of_batch(root, "warm", config)
    rows[3] = cut_off(rows[3])
    widths: list[int] = []
    score = GRPOTrainer._get_per_token_logps_and_entropies

    def score_and_tell(self: Any, model: Any, ids: torch.Tensor, *args: Any, **more: Any) -> Any:
        widths.append(ids.size(1))
        return score(self, model, ids, *args, **more)

    monkeypatch.setattr(GRPOTrainer, "_get_per_token_logps_and_entropies", score_and_tell)
    learn(root, 1, "warm", config, rows)
    lengths = [len(row["promptTokenIds"]) + len(row["completionTokenIds"]) for row in rows]
    # One pass over the reference policy, and one over the policy.
    assert sorted(widths) == sorted([*lengths, *lengths])
    assert len(set(lengths)) > 2


def test_only_tokens_of_rows_pass_through_the_model(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(iterations=1, microBatch=4, loss={"beta": 0.1})
    rows = rows_of_batch(root, "warm", config)
    rows[3] = cut_off(rows[3])
    passed: list[int] = []
    embed = torch.nn.Embedding.forward

    def embed_and_tell(self: torch.nn.Embedding, ids: torch.Tensor) -> torch.Tensor:
        passed.append(ids.numel())
        return embed(self, ids)

    monkeypatch.setattr(torch.nn.Embedding, "forward", embed_and_tell)
    learn(root, 1, "warm", config, rows)
    tokens = sum(len(row["promptTokenIds"]) + len(row["completionTokenIds"]) for row in rows)
    # Two micro batches by the reference policy, two by the policy, and the probe of what was made.
    assert [sum(passed[:2]), sum(passed[2:4])] == [tokens, tokens]
    assert len(passed) == 5


def test_metrics_tell_how_far_the_sampler_was_away_and_how_far_the_policy_went(root: Path) -> None:
    config = config_of(iterations=1, loss={"mostWeight": 1.3})
    rows = rows_of_batch(root, "warm", config, drift=0.3)
    once = learn(root, 1, "warm", config, rows)["metrics"]
    ratio = math.exp(0.3)
    assert once["ratio"] == pytest.approx(ratio, rel=1e-4)
    assert once["samplerGap"] == pytest.approx(0.3, abs=1e-4)
    assert once["logprobGap"] == pytest.approx(0.3, abs=1e-4)
    assert once["kl"] == pytest.approx(ratio - 1 - 0.3, rel=1e-3)
    assert once["tokens"] == sum(len(row["completionTokenIds"]) for row in rows)
    # 1.35 is over the limit. It is no step of the policy, and so nothing that is clipped.
    assert once["weight"] == pytest.approx(1.3)
    assert once["weightLimited"] == 1
    assert (once["policyGap"], once["clipShare"]) == (0, 0)

    shutil.rmtree(root / "night/000001")
    fast = config_of(iterations=3, optimizer={"warmupSteps": 0})
    often = learn(root, 1, "warm", fast, rows)["metrics"]
    assert often["policyGap"] > 0.01
    assert often["clipShare"] > 0


def test_the_learning_rate_follows_the_schedule_of_the_whole_run(root: Path) -> None:
    config = config_of(optimizer={"schedule": "linear", "warmupSteps": 1, "totalSteps": 5})
    rows = rows_of_batch(root, "warm", config)
    rates = [
        learn(root, cycle, parent, config, rows)["metrics"]["learningRate"]
        for cycle, parent in enumerate(PARENTS[:2], start=1)
    ]
    assert rates == pytest.approx([1e-2, 1e-2 * 2 / 4])
    with pytest.raises(BadRequest, match="ends at optimizer step 6, but the linear schedule"):
        learn(root, 3, "000002", config, rows)


def test_a_rate_of_three_stages_falls_over_the_last_third(root: Path) -> None:
    config = config_of(optimizer={"schedule": "wsd", "warmupSteps": 1, "totalSteps": 6})
    rows = rows_of_batch(root, "warm", config)
    rates = [
        learn(root, cycle, parent, config, signed(rows, f"night/{parent}"))["metrics"][
            "learningRate"
        ]
        for cycle, parent in enumerate(PARENTS, start=1)
    ]
    assert rates == pytest.approx([1e-2, 1e-2, 1e-2 / 2])


def test_settings_that_change_hold_from_the_next_update_on(root: Path) -> None:
    rows = rows_of_batch(root, "warm", config_of())
    learn(root, 1, "warm", config_of(), rows)
    slower = config_of(optimizer={"learningRate": 1e-3}, iterations=1)
    assert learn(root, 2, "000001", slower, rows)["metrics"]["learningRate"] == 1e-3


def test_an_older_checkpoint_is_gone_on_from_with_the_schedule_and_without_moments(
    root: Path,
) -> None:
    config = config_of(optimizer={"schedule": "linear", "warmupSteps": 1, "totalSteps": 9})
    rows = rows_of_batch(root, "warm", config)
    learn(root, 1, "warm", config, rows)
    shutil.rmtree(root / "night/000001/trainer" / MOMENTS_FOLDER)
    metrics = learn(root, 2, "000001", config, rows)["metrics"]
    assert metrics["learningRate"] == pytest.approx(1e-2 * 6 / 8)
    assert require_record(root, checkpoint("000002")).step == 4
    (moments,) = (root / "night/000002/trainer" / MOMENTS_FOLDER).iterdir()
    steps = {int(each) for name, each in load_file(moments).items() if name.endswith(".step")}
    assert steps == {2}


def test_a_run_that_begins_with_another_runs_checkpoint_begins_its_schedule_anew(
    root: Path,
) -> None:
    config = config_of()
    learn(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    shutil.copytree(root / "night", root / "elsewhere")
    rows = rows_of_batch(root, "000001", config)
    request = update_request(2, "000001", config)
    request["parent"] = {"trainRun": "elsewhere", "name": "000001"}
    batch = write_batch(root, 2, "000001", config, signed(rows, "elsewhere/000001"))
    perform("update", root, request, batch, lambda _: None)
    assert require_record(root, checkpoint("000001")).step == 2
    assert require_record(root, checkpoint("000002")).step == 2


def test_an_update_that_comes_to_nan_saves_nothing(root: Path) -> None:
    config = config_of(
        iterations=3, optimizer={"learningRate": 1e30, "warmupSteps": 0, "maxGradNorm": 1e30}
    )
    rows = rows_of_batch(root, "warm", config)
    with pytest.raises(NonFiniteLoss, match="Nothing was saved") as failure:
        learn(root, 1, "warm", config, rows)
    assert not failure.value.retryable
    assert sorted(path.name for path in (root / "night").iterdir()) == ["base", "warm"]


def test_lora_trains_an_adapter_and_leaves_the_model_alone(adapted: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(adapted, tmp_path / "checkpoints"))
    config = config_of(tuning=LORA)
    rows = rows_of_batch(root, "warm", config)
    result = learn(root, 1, "warm", config, rows)
    learn(root, 2, "000001", config, rows)

    assert result["checkpoint"]["kind"] == "adapter"
    assert result["checkpoint"]["folder"] == "night/000001/adapter"
    assert result["metrics"]["logprobGap"] < 1e-4
    assert result["metrics"]["gradNorm"] > 0
    assert all("lora" in name for name in weights(root, "000002"))
    digests = {name: require_record(root, checkpoint(name)) for name in (*PARENTS, "base")}
    assert len({record.weightsSha256 for record in digests.values()}) == 4
    assert {record.base for record in digests.values()} == {"night/base/model"}
    # The first adapter changes nothing: it thinks what the model without one thinks.
    policy: Any = load_policy(root, digests["base"], config)
    whole = policy.get_base_model()
    with_none = take_probe(
        whole, probed_tokens(load_tokenizer(root / "night/base/model"), TINY_CHAT)
    )
    assert with_none.logprobs == pytest.approx(digests["base"].probe.logprobs, abs=1e-6)


def test_weights_stay_in_float32_where_arithmetic_is_in_bfloat16(root: Path) -> None:
    config = config_of(precision="bfloat16", optimizer={"learningRate": 1e-5, "warmupSteps": 0})
    metrics = learn(root, 1, "warm", config, rows_of_batch(root, "warm", config))["metrics"]
    # The sampler of this test computes in float32, and the trainer did not.
    assert 1e-4 < metrics["logprobGap"] < 0.1
    before, after = weights(root, "warm"), weights(root, "000001")
    assert {tensor.dtype for tensor in after.values()} == {torch.float32}
    # A change so small would be lost in bfloat16.
    assert all(not torch.equal(before[name], after[name]) for name in before)


def test_tuning_cannot_change_within_a_run(root: Path) -> None:
    config = config_of(tuning=LORA)
    rows = rows_of_batch(root, "warm", config_of())
    with pytest.raises(BadRequest, match="of kind 'model', but the settings' `tuning` needs"):
        learn(root, 1, "warm", config, rows)


@pytest.mark.parametrize("tuning", [FULL, LORA])
def test_weights_that_cannot_be_read_are_told_by_their_folder(
    warm: Path, adapted: Path, tmp_path: Path, tuning: Any
) -> None:
    config = config_of(tuning=tuning)
    root = Path(shutil.copytree(warm if tuning == FULL else adapted, tmp_path / "checkpoints"))
    rows = rows_of_batch(root, "warm", config)
    folder = require_record(root, checkpoint("warm")).folder
    (file,) = (root / folder).glob("*.safetensors")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ModelInvalid, match=folder) as failure:
        learn(root, 1, "warm", config, rows)
    assert not failure.value.retryable


@pytest.mark.parametrize("tuning", [pytest.param(FULL, marks=pytest.mark.nightly), LORA])
def test_two_and_four_processes_learn_what_one_learns(
    warm: Path, adapted: Path, tmp_path: Path, tuning: Any
) -> None:
    one, several = (
        Path(shutil.copytree(warm if tuning == FULL else adapted, tmp_path / name))
        for name in ("one", "several")
    )
    config = config_of(tuning=tuning, microBatch=3, loss={"name": "bnpo", "beta": 0.1})
    sampled = rows_of_batch(one, "warm", config)
    # Two copies of the model, each shared by two processes or, below an adapter, by none.
    shards = 2 if tuning == FULL else 1
    sizes = {"dpReplicateSize": 2, "dpShardSize": shards}
    copied = {"processes": 2 * shards, "parallelism": sizes}
    # Across cycles: the optimizer's state as well, whatever the number of processes before.
    parent = "warm"
    for cycle, changes in enumerate([{"processes": 2}, {"processes": 4}, copied, {}], 1):
        rows = signed(sampled, f"night/{parent}")
        expected = learn(one, cycle, parent, config, rows)
        found = learn(several, cycle, parent, {**config, **changes}, rows)
        parent = f"{cycle:06}"
        for name, value in expected["metrics"].items():
            if name != "seconds":
                assert found["metrics"][name] == pytest.approx(value, abs=1e-5), name
    for name, tensor in weights(one, parent).items():
        torch.testing.assert_close(weights(several, parent)[name], tensor, atol=1e-5, rtol=0)


def test_no_process_waits_while_the_first_one_writes_the_weights(
    root: Path, tmp_path: Path
) -> None:
    config = config_of(processes=2, microBatch=4, iterations=1)
    batch = write_batch(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    request = update_request(1, "warm", config)
    made = Made(root, tmp_path, "update", "000001", request, "night/base/model", 1)
    (shared := tmp_path / "shared").mkdir()
    work = measured_update.learn_while_the_disk_is_slow
    launch(work, (made, batch), 2, lambda _: None, shared)
    assert (made.saved / "model.safetensors").is_file()
    # Each wrote its own half of the moments.
    parts = [*(tmp_path / TRAINER_FOLDER / MOMENTS_FOLDER).iterdir()]
    sizes = sorted(path.stat().st_size for path in parts)
    assert len(sizes) == 2 and sizes[0] > 0.8 * sizes[1]


def test_plans_of_the_checkpoint_before_are_weighed_by_how_much_likelier_they_are_now(
    root: Path,
) -> None:
    config = config_of(iterations=1, optimizer={"warmupSteps": 0})
    rows = rows_of_batch(root, "warm", config)
    learn(root, 1, "warm", config, rows)
    now = rows_of_batch(root, "000001", config)
    metrics = learn(root, 2, "000001", config, rows)["metrics"]
    pairs = [
        (after, before)
        for new, old in zip(now, rows, strict=True)
        for after, before in zip(new["sampledLogprobs"], old["sampledLogprobs"], strict=True)
    ]
    ratios = [math.exp(after - before) for after, before in pairs]
    # Larger than any rounding error: one step of learning made it.
    assert metrics["samplerGap"] > 1e-3
    assert metrics["ratio"] == pytest.approx(sum(ratios) / len(ratios), abs=1e-5)
    weights_of = [min(each, config["loss"]["mostWeight"]) for each in ratios]
    assert metrics["weight"] == pytest.approx(sum(weights_of) / len(ratios), abs=1e-5)
    # The clip is by what the step itself changes.
    assert metrics["policyGap"] == 0


def test_plans_of_any_older_checkpoint_are_refused(root: Path) -> None:
    config = config_of()
    rows = rows_of_batch(root, "warm", config)
    learn(root, 1, "warm", config, rows)
    learn(root, 2, "000001", config, rows)
    with pytest.raises(BatchInvalid, match="policy: is 'night/warm', but must be one of night/000"):
        learn(root, 3, "000002", config, rows)

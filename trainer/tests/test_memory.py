"""Memory is reckoned before anything is paid; what cannot fit is refused with the sums."""

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import measured_update
import tiny_run
from conductor_trainer import estimate
from conductor_trainer.errors import ModelInvalid, OutOfMemory
from conductor_trainer.train import init as init_module
from conductor_trainer.train import memory
from conductor_trainer.train.init import init
from conductor_trainer.train.launch import launch
from conductor_trainer.train.memory import (
    Gpu,
    Machine,
    Shape,
    find_lack,
    needed_by_host,
    needed_by_process,
    needed_to_score,
    shape_of,
)
from conductor_trainer.train.record import Made
from policies import QWEN3_8B, QWEN_7B, QWEN_72B
from tiny_run import (
    FULL,
    LORA,
    RUN,
    TINY,
    begin,
    config_of,
    rows_of_batch,
    update_request,
    write_batch,
    write_texts,
)

GB = 10**9
EMPTY = Gpu(80 * GB, 0)


def paper(**changes: Any) -> Any:
    """Returns the settings of `profiles/paper.yaml`, except for its number of processes."""
    return config_of(
        device="cuda",
        precision="bfloat16",
        rollouts=256,
        groupSize=64,
        microBatch=1,
        maxPromptTokens=8192,
        maxCompletionTokens=1024,
        **changes,
    )


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qwen2.5-7B without its weights."""
    folder = tmp_path_factory.mktemp("seven")
    QWEN_7B.save_pretrained(folder)
    return folder


def test_weights_are_counted_without_being_loaded(seven: Path) -> None:
    full = shape_of(seven, paper())
    # Qwen's own figure is 7.61 billion.
    assert full.weights == full.learned == 7_615_616_512
    adapter = {**LORA, "rank": 32}
    assert shape_of(seven, paper(tuning=adapter)).learned == 80_740_352


def test_the_papers_profile_fits_its_four_gpus_and_no_single_one(seven: Path) -> None:
    shape = shape_of(seven, paper())
    four = Machine(512 * GB, [EMPTY] * 4)
    assert find_lack(shape, paper(processes=4), four) is None
    lack = find_lack(shape, paper(), four)
    assert lack is not None
    assert "on GPU 1 of 1 needs 144.9 GB, but there are only 80.0: 30.5 for weights" in lack
    parts = [float(each) for each in re.findall(r"([\d.]+) for ", lack)]
    assert sum(parts) == pytest.approx(144.9, abs=0.3)


@pytest.mark.parametrize(
    ("profile", "model", "host", "changes"),
    [
        ("qwen3-8b-lora", QWEN3_8B, 64, {"tuning": {**LORA, "rank": 32}, "microBatch": 2}),
        ("qwen2.5-7b-full", QWEN_7B, 64, {"tuning": FULL, "microBatch": 1, "processes": 2}),
        ("70b-lora", QWEN_72B, 192, {"tuning": {**LORA, "rank": 32}, "processes": 4}),
    ],
)
def test_a_profile_tells_the_memory_that_is_reckoned_for_it(
    tmp_path: Path, profile: str, model: Any, host: int, changes: Any
) -> None:
    model.save_pretrained(tmp_path)
    config = {**paper(), "maxPromptTokens": 4096, **changes}
    shape, eighty = shape_of(tmp_path, config), Machine(host * GB, [EMPTY] * config["processes"])
    assert find_lack(shape, config, eighty) is None
    head = (Path(__file__).parents[2] / "profiles" / f"{profile}.yaml").read_text()
    for need in (needed_by_process, needed_to_score, needed_by_host):
        assert f"{sum(need(shape, config).values()) / GB:.1f} GB" in head


def test_what_other_programs_hold_on_the_gpu_counts(seven: Path) -> None:
    config = paper(tuning={**LORA, "rank": 32})
    shape = shape_of(seven, config)
    beside_vllm = [Gpu(80 * GB, taken) for taken in (32 * GB, 72 * GB)]
    assert find_lack(shape, config, Machine(512 * GB, beside_vllm[:1])) is None
    lack = find_lack(shape, config, Machine(512 * GB, beside_vllm[1:]))
    assert lack is not None and "72.0 for other programs" in lack


def test_a_process_without_a_gpu_is_told_ahead(seven: Path) -> None:
    config = paper(processes=4)
    lack = find_lack(shape_of(seven, config), config, Machine(512 * GB, [EMPTY]))
    assert lack is not None and "processes is 4, each on its own GPU" in lack


def test_served_replies_are_checked_by_all_processes_with_a_share_each(seven: Path) -> None:
    config = paper(processes=8)
    forty = Machine(512 * GB, [Gpu(40 * GB, 0)] * 8)
    # Whole weights and their copies, 46 GB, would not fit any of them.
    assert find_lack(shape_of(seven, config), config, forty) is None


def test_served_replies_are_checked_with_weights_in_all_bits(seven: Path) -> None:
    config = paper(tuning={**LORA, "rank": 32, "quantize": "4bit"})
    shape, small = shape_of(seven, config), Machine(512 * GB, [Gpu(19 * GB, 0)])
    assert sum(needed_by_process(shape, config).values()) < 19 * GB
    lack = find_lack(shape, config, small)
    assert lack is not None and "Checking served replies on GPU 1 of 1 needs 22.1 GB" in lack


def test_a_reference_adapter_needs_no_second_model(seven: Path) -> None:
    config = paper(tuning={**LORA, "rank": 32}, loss={"beta": 0.1})
    shape = shape_of(seven, config)
    assert needed_by_host(shape, config)["the reference policy of beta"] == 4 * shape.learned


def test_offloaded_state_must_fit_the_machine_itself(seven: Path) -> None:
    config = paper(processes=2, offload=True)
    shape = shape_of(seven, config)
    assert find_lack(shape, config, Machine(512 * GB, [EMPTY] * 2)) is None
    lack = find_lack(shape, config, Machine(64 * GB, [EMPTY] * 2))
    assert lack is not None and "machine's own memory needs 169.0 GB" in lack


def test_each_copy_of_the_model_needs_what_one_does(seven: Path) -> None:
    two = paper(processes=2, offload=True)
    copied = {**two, "processes": 4, "parallelism": {"dpReplicateSize": 2, "dpShardSize": 2}}
    shape, what = shape_of(seven, two), "weights, gradients and optimizer"
    assert needed_by_process(shape, copied) == needed_by_process(shape, two)
    assert needed_by_host(shape, copied)[what] == 2 * needed_by_host(shape, two)[what]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("tuning", [{"kind": "full"}, LORA])
@pytest.mark.parametrize("beta", [0.0, 0.1])
@pytest.mark.parametrize("offload", [False, True])
def test_more_processes_never_need_more_of_each(
    precision: str, tuning: Any, beta: float, offload: bool
) -> None:
    # Also a model that is nothing but two layers, all of which are put together at once.
    for layers, layer, outside in ((2, 1000, 0), (28, 233_057_792, 1_090_000_000), (1, 10, 10**6)):
        weights = layers * layer + outside
        learned = weights if tuning["kind"] == "full" else weights // 50
        shape = Shape(
            weights,
            learned,
            8 * learned,
            layers,
            layer,
            hidden=64,
            feed_forward=128,
            vocabulary=300,
        )
        needs = [
            sum(
                needed_by_process(
                    shape,
                    config_of(
                        device="cuda",
                        precision=precision,
                        tuning=tuning,
                        offload=offload,
                        processes=processes,
                        loss={"beta": beta},
                    ),
                ).values()
            )
            # Processes beyond the first that have an adapter each send its gradients.
            for processes in range(1 if tuning["kind"] == "full" else 2, 65)
        ]
        assert needs == sorted(needs, reverse=True)


@pytest.mark.parametrize(("processes", "loaded"), [(1, 4 * 7_615_616_512), (4, 0)])
def test_a_shared_reference_is_never_whole_in_the_machines_memory(
    seven: Path, processes: int, loaded: int
) -> None:
    config = paper(processes=processes, loss={"beta": 0.1})
    host = needed_by_host(shape_of(seven, config), config)
    assert host["the reference policy of beta"] == loaded


@pytest.mark.parametrize("tuning", [FULL, LORA])
def test_processes_hold_what_is_reckoned_for_each(tmp_path: Path, tuning: Any) -> None:
    # Two micro batches a step: what they add up must be shared as well.
    config = config_of(tuning=tuning, processes=2, microBatch=2, iterations=1)
    root = tmp_path / "checkpoints"
    begin(root, tmp_path, {**config, "processes": 1}, steps=1)
    batch = write_batch(root, 1, "warm", config, rows_of_batch(root, "warm", config))
    request = update_request(1, "warm", config)
    made = Made(root, tmp_path, "update", "000001", request, f"{RUN}/base/model", 1)
    reckoned = needed_by_process(shape_of(root / made.base, config), config)
    (shared := tmp_path / "shared").mkdir()
    for told in launch(measured_update.learn, (made, batch), 2, lambda _: None, shared):
        for what, held in told["held"].items():
            # Counters of steps, and weights that cannot be halved, are left out.
            assert held == pytest.approx(reckoned[what], rel=0.02), what


@pytest.mark.parametrize(
    ("processes", "tuning"),
    [
        (1, FULL),
        (1, {**LORA, "rank": 32}),
        (1, {**LORA, "rank": 32, "quantize": "4bit"}),
        (2, FULL),
        (2, {**LORA, "rank": 32}),
    ],
)
@pytest.mark.parametrize("micro", [2, pytest.param(4, marks=pytest.mark.nightly)])
def test_the_allocator_gives_out_what_is_reckoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int, tuning: Any, micro: int
) -> None:
    wide = dict(hidden=256, layers=4, heads=4, keyValueHeads=2, feedForward=1024)
    monkeypatch.setattr(tiny_run, "TINY", {**TINY, **wide})
    # In the second step, moments and gradients are beside the activations.
    config = config_of(tuning=tuning, microBatch=micro, rollouts=8 * processes)
    root = tmp_path / "checkpoints"
    begin(root, tmp_path, config, steps=1)
    # A process has several micro batches a step, so that gradients are beside the next one.
    rows = [
        {**row, "rolloutId": f"{place:03}"}
        for place, row in enumerate(rows_of_batch(root, "warm", config) * processes)
    ]
    for name in ("Prompt", "Completion"):
        longest = max(len(row[f"{name.lower()}TokenIds"]) for row in rows)
        config = {**config, f"max{name}Tokens": longest}
    config = {**config, "processes": processes}
    batch = write_batch(root, 1, "warm", config, rows)
    request = update_request(1, "warm", config)
    made = Made(root, tmp_path, "update", "000001", request, f"{RUN}/base/model", 2)
    learn, given = measured_update.learn_and_tell_the_peak, (made, batch)
    if processes == 1:
        told = [learn(*given, lambda _: None)[-1]]
    else:
        (shared := tmp_path / "shared").mkdir()
        told = launch(learn, given, processes, lambda _: None, shared)
    reckoned = sum(needed_by_process(shape_of(root / made.base, config), config).values())
    for each in told:
        assert reckoned == pytest.approx(each["peak"], rel=0.15)


def test_a_tiny_model_fits_a_cpu_and_a_large_one_is_refused_before_it_is_loaded(
    seven: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "this_machine", lambda _: Machine(2 * GB, []))
    tiny: Any = {"trainRun": RUN, "base": TINY, "config": config_of()}
    assert init(tmp_path / "tiny", tiny, write_texts(tmp_path))["checkpoint"]
    monkeypatch.setattr(init_module, "load_tokenizer", lambda _: pytest.fail("it went on"))
    large: Any = {**tiny, "base": {"kind": "folder", "path": str(seven)}}
    with pytest.raises(
        OutOfMemory, match=r"on the CPU with processes: 1 needs .* are only 2\.0"
    ) as lack:
        init(tmp_path / "large", large, None)
    assert not lack.value.retryable


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelInvalid, match=r"config\.json does not describe a trainable model"):
        shape_of(tmp_path, config_of())


def test_an_estimate_sums_up_what_the_preflight_counts(
    seven: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = paper(processes=4)
    asked = {"model": str(seven), "config": config}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(asked)))
    monkeypatch.setattr(sys, "argv", ["estimate"])
    estimate.main()
    told = json.loads(capsys.readouterr().out)
    shape = shape_of(seven, config)
    assert told["process"] == sum(needed_by_process(shape, config).values())
    assert told["check"] == sum(needed_to_score(shape, config).values())
    assert told["host"] == sum(needed_by_host(shape, config).values())
    assert told["checkpoint"] == 12 * shape.learned


def test_an_estimate_says_why_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {"model": str(tmp_path), "config": paper()}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(asked)))
    monkeypatch.setattr(sys, "argv", ["estimate"])
    with pytest.raises(SystemExit, match=r"The estimate cannot start: .* does not describe"):
        estimate.main()

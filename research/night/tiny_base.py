"""Makes a tiny base model that writes plans: `tiny_base.py SEED EXAMPLES FOLDER`.

A night with vLLM trains an adapter, and an adapter alone teaches random weights nothing.
"""

import json
import random
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM

from conductor_trainer.model import load_tokenizer
from conductor_trainer.tiny_model import END_OF_TURN, build_tiny

STEPS, BATCH, RATE = 300, 32, 6e-3
IGNORED = -100

# vLLM needs heads of 32 numbers at least.
SHAPE = {
    "kind": "tiny",
    "vocabulary": 400,
    "hidden": 64,
    "layers": 2,
    "heads": 2,
    "keyValueHeads": 1,
    "feedForward": 128,
    "maxPositions": 1024,
    "initializerRange": 0.08,
}


def main() -> None:
    seed, examples, folder = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    rows = [json.loads(line) for line in examples.read_text().splitlines()]
    texts = [f"{row['prompt']}{row['completion']}" for row in rows]
    build_tiny(SHAPE, texts, seed, folder)
    tokenizer = load_tokenizer(folder)
    chance = random.Random(seed)

    def tokens_of(text: str) -> list[int]:
        return tokenizer.encode(text, add_special_tokens=False)

    pairs = [(tokens_of(row["prompt"]), tokens_of(row["completion"] + END_OF_TURN)) for row in rows]
    model = AutoModelForCausalLM.from_pretrained(folder)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, STEPS)
    for _ in range(STEPS):
        drawn = chance.choices(pairs, k=BATCH)
        longest = max(len(prompt) + len(reply) for prompt, reply in drawn)
        ids, labels = [], []
        for prompt, reply in drawn:
            rest = longest - len(prompt) - len(reply)
            ids.append([*prompt, *reply, *[0] * rest])
            labels.append([*[IGNORED] * len(prompt), *reply, *[IGNORED] * rest])
        model(input_ids=torch.tensor(ids), labels=torch.tensor(labels)).loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)


if __name__ == "__main__":
    main()

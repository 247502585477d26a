"""A checkpoint's opinion on fixed tokens, by which a server proves that it serves these weights."""

import torch
from transformers import PreTrainedTokenizerBase

from conductor_trainer.checkpoint import Probe
from conductor_trainer.model import Policy

_TEXT = (
    "<|im_start|>user\nHow much is 17 and 26?<|im_end|>\n<|im_start|>assistant\n"
    'model_id = [0]\nsubtasks = ["Solve the question."]\naccess_list = [[]]<|im_end|>'
)


@torch.no_grad()
def take_probe(policy: Policy, tokenizer: PreTrainedTokenizerBase) -> Probe:
    """One forward pass over a plan that any policy could have written."""
    policy.eval()
    token_ids_T = tokenizer.encode(_TEXT, add_special_tokens=False)
    input_ids_1T = torch.tensor([token_ids_T], device=policy.device)
    logits_TV = policy(input_ids=input_ids_1T).logits[0, :-1].float()
    logprobs_TV = torch.log_softmax(logits_TV, dim=-1)
    logprobs_T = logprobs_TV.gather(1, input_ids_1T[0, 1:, None])[:, 0]
    return Probe(token_ids_T, logprobs_T.tolist())

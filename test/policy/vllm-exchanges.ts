/**
 * Answers of vLLM's OpenAI-compatible server.
 *
 * Written by hand from the protocol source of vLLM 0.31.0 (`entrypoints/openai/completion/protocol.py` and `serving.py`,
 * `entrypoints/serve/{tokenize,lora,engine}/protocol.py`, `entrypoints/openai/models/serving.py`). None was recorded from
 * a running server.
 */

/** `POST /tokenize` of "Hi" in ChatML. */
export const TOKENIZED = {
  count: 9,
  max_model_len: 32_768,
  tokens: [151_644, 872, 198, 13_048, 151_645, 198, 151_644, 77_091, 198],
  token_strs: null,
};

/** `POST /v1/completions` with `n: 2`, `logprobs: 0` and `return_token_ids: true`; choices in the order they were done. */
export const COMPLETED = {
  id: 'cmpl-4f0b6f1b2f1e4ab8a9d4f2f6d7c1a3e5',
  object: 'text_completion',
  created: 1_763_700_000,
  model: 'nightly-000012',
  choices: [
    {
      index: 1,
      text: 'model_id = [',
      logprobs: {
        text_offset: [0, 5, 8, 10],
        token_logprobs: [-0.125, -2.5, 0, -9999.0],
        tokens: ['model', '_id', ' =', ' ['],
        top_logprobs: [{ model: -0.125 }, { _id: -2.5 }, { ' =': 0 }, { ' [': -9999.0 }],
      },
      finish_reason: 'length',
      stop_reason: null,
      token_ids: [2528, 842, 284, 508],
      prompt_logprobs: null,
      prompt_token_ids: TOKENIZED.tokens,
      routed_experts: null,
    },
    {
      index: 0,
      text: 'Hi',
      logprobs: {
        text_offset: [0, 2],
        token_logprobs: [-1.5, -0.0625],
        tokens: ['Hi', '<|im_end|>'],
        top_logprobs: [{ Hi: -1.5 }, { '<|im_end|>': -0.0625 }],
      },
      finish_reason: 'stop',
      stop_reason: null,
      token_ids: [13_048, 151_645],
      prompt_logprobs: null,
      prompt_token_ids: TOKENIZED.tokens,
      routed_experts: null,
    },
  ],
  service_tier: null,
  system_fingerprint: null,
  usage: { prompt_tokens: 9, total_tokens: 15, completion_tokens: 6, prompt_tokens_details: null },
  kv_transfer_params: null,
  ec_transfer_params: null,
  metrics: null,
};

/** A model that was never loaded, at any route. */
export const NO_MODEL = {
  error: {
    message: 'The model `nightly-000012` does not exist.',
    type: 'NotFoundError',
    param: 'model',
    code: 404,
  },
};

/** `POST /v1/load_lora_adapter`: a text and no JSON. */
export const LOADED = "Success: LoRA adapter 'nightly-000012' added successfully.";

/** The same name once more; the message goes on. */
export const LOADED_ALREADY = {
  error: {
    message: "The lora adapter 'nightly-000012' has already been loaded.",
    type: 'InvalidUserInput',
    param: null,
    code: 400,
  },
};

/** A folder without an adapter in it. */
export const NO_ADAPTER = {
  error: {
    message: 'Loading lora nightly-000012 failed: No adapter found for /checkpoints/nightly/000012/adapter',
    type: 'NotFoundError',
    param: null,
    code: 404,
  },
};

/** A folder that holds something else: whatever the engine says goes out as 500. */
export const NOT_LOADABLE = {
  error: {
    message: 'LoRA rank 64 is greater than max_lora_rank 32.',
    type: 'InternalServerError',
    param: null,
    code: 500,
  },
};

/** A server that was started without `VLLM_ALLOW_RUNTIME_LORA_UPDATING` has no such route. */
export const NO_ROUTE = { error: { message: 'Not Found', type: 'Not Found', param: null, code: 404 } };

/** A prompt and a reply that the model has no room for together; the message goes on. */
export const TOO_LONG = {
  error: {
    message: "This model's maximum context length is 32768 tokens.",
    type: 'BadRequestError',
    param: 'input_tokens',
    code: 400,
  },
};

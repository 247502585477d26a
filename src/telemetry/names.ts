import { SUFFIXES_OF_ID } from '../protocol/names';

/**
 * Names on spans: OpenTelemetry's conventions for generative AI, v0.1.0 with those of 1.45.0 below them
 * (https://github.com/open-telemetry/semantic-conventions-genai/tree/v0.1.0), and ours, which begin with `conductor.`.
 * Another version of the conventions changes this file alone.
 */
export const ATTRIBUTES = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  model: 'gen_ai.request.model',
  maxTokens: 'gen_ai.request.max_tokens',
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  topK: 'gen_ai.request.top_k',
  presencePenalty: 'gen_ai.request.presence_penalty',
  seed: 'gen_ai.request.seed',
  /** Number of replies that a request asks for, if more than one. */
  choices: 'gen_ai.request.choice.count',
  effort: 'gen_ai.request.reasoning.level',
  stream: 'gen_ai.request.stream',
  outputType: 'gen_ai.output.type',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_write.input_tokens',
  /** Name of `cacheWrite` before v0.1.0, which some backends still read. */
  cacheCreation: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  tool: 'gen_ai.tool.name',
  server: 'server.address',
  port: 'server.port',
  error: 'error.type',
  /** Id of the run, without words of its question; of a part of a run, the part's own. `trace` takes it. */
  run: 'conductor.run_id',
  /** From 1, as in `trace`. */
  round: 'conductor.round',
  step: 'conductor.step',
  /** Number of the request among those of its call, as in the ledger. */
  attempt: 'conductor.attempt',
  purpose: 'conductor.purpose',
  /** Absent while unknown. */
  costUsd: 'conductor.cost_usd',
  /** Number of a cycle of training. */
  cycle: 'conductor.cycle',
  status: 'conductor.status',
  degraded: 'conductor.degraded',
} as const;

/** Operations, with which the names of spans begin. */
export const OPERATIONS = {
  workflow: 'invoke_workflow',
  plan: 'plan',
  agent: 'invoke_agent',
  chat: 'chat',
  tool: 'execute_tool',
  // Ours, for which the conventions have no word.
  grade: 'grade',
  train: 'train',
  update: 'update',
  publish: 'publish',
} as const;

/** How the conventions call the ends of an answer. */
export const FINISH_REASONS = { stop: 'stop', length: 'length', refusal: 'content_filter' } as const;

/** The conventions' value for an error that has no type. */
export const OTHER_ERROR = '_OTHER';

const VENDORS: readonly (readonly [domain: string, provider: string])[] = [
  ['openai.azure.com', 'azure.ai.openai'],
  ['services.ai.azure.com', 'azure.ai.inference'],
  ['amazonaws.com', 'aws.bedrock'],
  ['aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['generativelanguage.googleapis.com', 'gcp.gemini'],
  ['anthropic.com', 'anthropic'],
  ['cohere.ai', 'cohere'],
  ['cohere.com', 'cohere'],
  ['deepseek.com', 'deepseek'],
  ['groq.com', 'groq'],
  ['mistral.ai', 'mistral_ai'],
  ['moonshot.ai', 'moonshot_ai'],
  ['moonshot.cn', 'moonshot_ai'],
  ['perplexity.ai', 'perplexity'],
  ['x.ai', 'x_ai'],
];

/** Names a card's vendor: by the host that it calls, else by the API that the host speaks. `local` and `policy` are ours. */
export function vendorOf(provider: string, baseUrl: string | null): string {
  const host = baseUrl === null ? '' : hostOf(baseUrl);
  const [, vendor] = VENDORS.find(([domain]) => host === domain || host.endsWith(`.${domain}`)) ?? [];
  return vendor ?? (provider === 'google' ? 'gcp.gemini' : provider);
}

/** Longest id that Temporal takes. */
const MOST_OF_ID = 1000;

/** Returns a run's id as spans have it, without words of its question: `solve-what-is-it-7kq2m9xw` is `solve-7kq2m9xw`. */
export function withoutWords(id: string): string {
  const [kind, ...parts] = id.slice(0, MOST_OF_ID + 1).split('-');
  if (kind !== 'solve' || id.length > MOST_OF_ID) return id;
  for (let words = 1; words < parts.length; words += 1) {
    const [random = '', ...suffixes] = parts.slice(words);
    const isRandom = /^[0-9a-z]{8}$/.test(random);
    if (isRandom && SUFFIXES_OF_ID.test(suffixes.map((suffix) => `-${suffix}`).join('')))
      return ['solve', random, ...suffixes].join('-');
  }
  return id;
}

function hostOf(url: string): string {
  // Regions of Vertex AI stand before its name: europe-west1-aiplatform.googleapis.com.
  return URL.canParse(url) ? new URL(url).hostname.replace(/^[a-z0-9-]+-(?=aiplatform\.)/, '') : '';
}

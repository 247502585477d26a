import { z } from 'zod';
import { tokens } from './field-schemas';

/** Defaults of `maxOutputTokens`. */
export const CONDUCTOR_TOKENS = 1024;
export const WORKER_TOKENS = 4096;

/** Sampling settings. Those that a model's API lacks are dropped, and the trace says so. */
export const sampling = {
  temperature: z.number().min(0).max(2).exactOptional(),
  topP: z.number().min(0).max(1).exactOptional(),
  topK: z.int().min(1).max(1000).exactOptional(),
  presencePenalty: z.number().min(-2).max(2).exactOptional(),
};

/** Budget of thinking tokens before an answer. */
export const thinking = z
  .union([z.literal('off'), tokens], { error: 'expected off, or a number of tokens, e.g. 2048' })
  .exactOptional();

export const noThinking = z
  .never({
    error:
      "only Anthropic's and Google's APIs have a thinking budget: remove it and set effort, or use extraBody for a " +
      'server with its own setting',
  })
  .exactOptional();

/** Request fields that we set: content, cost and response format. `extraBody` must not override them. */
const OURS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'input', 'instructions', 'system', 'contents', 'systemInstruction'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens', 'n', 'candidateCount'],
  ...['best_of', 'service_tier', 'serviceTier', 'stream', 'stream_options', 'store', 'background'],
]);

/** Most characters of JSON, several pages: they are sent with each request and stored in every history. */
const MAX_EXTRA = 4000;

/** Request fields that have no setting, sent as they are. */
export const extraBody = z
  .record(z.string(), z.unknown())
  .superRefine((body, context) => {
    const { generationConfig } = body;
    const inner = Object.keys(Object(generationConfig) as object).map((name) => ['generationConfig', name]);
    for (const path of [...Object.keys(body).map((name) => [name]), ...inner]) {
      if (!OURS.has(path.at(-1) ?? '')) continue;
      const message =
        'this field is set by temporal-conductor; remove it, and use the matching setting if there is one';
      context.addIssue({ code: 'custom', path, message });
    }
    if (JSON.stringify(body).length > MAX_EXTRA) {
      context.addIssue({ code: 'custom', message: `expected at most ${MAX_EXTRA} characters of JSON` });
    }
  })
  .exactOptional();

interface Thinker {
  readonly thinking?: 'off' | number;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly effort?: string;
}

type SettingFault = readonly [setting: keyof Thinker, message: string];

/** Smallest thinking budget that Anthropic accepts, in tokens. */
const LEAST_ANTHROPIC = 1024;

/** Finds settings that Anthropic refuses together with a thinking budget; otherwise every request would fail. */
function faultsOfAnthropic({
  thinking: budget = 'off',
  temperature = 1,
  topP = 1,
  topK,
}: Thinker): SettingFault[] {
  if (budget === 'off') return [];
  const faults: (SettingFault | false)[] = [
    budget < LEAST_ANTHROPIC && ['thinking', `Anthropic accepts ${LEAST_ANTHROPIC} tokens or more, or off`],
    temperature !== 1 && ['temperature', 'Anthropic accepts only 1 together with thinking; remove it'],
    topP < 0.95 && ['topP', 'Anthropic accepts only 0.95 to 1 together with thinking; raise or remove it'],
    topK !== undefined && ['topK', 'Anthropic does not accept topK together with thinking; remove it'],
  ];
  return faults.filter((fault) => fault !== false);
}

function faultsOfGoogle({ thinking: budget, effort }: Thinker): SettingFault[] {
  if (budget === undefined || effort === undefined) return [];
  return [['effort', 'Google accepts either effort or a thinking budget; remove one of them']];
}

/** Returns a check of thinking settings; `usualTokens` is their default for `maxOutputTokens`. */
export function checkThinking(provider: 'anthropic' | 'google', usualTokens: number) {
  return (settings: Thinker, context: z.RefinementCtx): void => {
    const { thinking: budget = 'off', maxOutputTokens = usualTokens } = settings;
    const faults = provider === 'anthropic' ? faultsOfAnthropic(settings) : faultsOfGoogle(settings);
    if (budget !== 'off' && budget >= maxOutputTokens) {
      const room = `thinking counts towards maxOutputTokens, which is ${maxOutputTokens}: raise that, or lower thinking`;
      faults.push(['thinking', room]);
    }
    for (const [setting, message] of faults) {
      context.addIssue({ code: 'custom', path: [setting], message });
    }
  };
}

import { FAILURES, type FailureType } from '../../../protocol/failures';

/** Causes that a server names more precisely than by a status. */
export type NamedCause = 'credit' | 'rate' | 'filter' | 'overload' | 'key' | 'model' | 'size';

/** Failure type of each cause. */
export const CAUSES: Readonly<Record<NamedCause, Extract<FailureType, `Provider.${string}`>>> = {
  credit: FAILURES.quotaExceeded,
  rate: FAILURES.rateLimited,
  filter: FAILURES.refused,
  overload: FAILURES.unavailable,
  key: FAILURES.authentication,
  model: FAILURES.notFound,
  size: FAILURES.badRequest,
};

/** One way in which a vendor names a cause. */
export interface Known {
  readonly vendor: string;
  readonly cause: NamedCause;
  /** HTTP statuses, or those that the report itself names, under which it counts. @default any, and none */
  readonly status?: readonly number[];
  /** A code, type or reason, in words: `insufficient_quota` and `InsufficientQuota` are `insufficient quota`. */
  readonly code?: RegExp;
  /** Patterns that one clause of the sentence fits. Codes count as clauses, too. */
  readonly says?: readonly RegExp[];
  /** A clause that fits this does not count. */
  readonly unless?: RegExp;
  /** Documentation, or a report of what the vendor sends. */
  readonly source: string;
}

const OPENAI = 'developers.openai.com/api/docs/guides/error-codes';
const ANTHROPIC = 'platform.claude.com/docs/en/api/errors';
const GOOGLE = 'ai.google.dev/gemini-api/docs/troubleshooting';
const AZURE = 'learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter';
const MOONSHOT = 'platform.kimi.ai/docs/api/errors';
const ZHIPU = 'docs.z.ai/api-reference/api-code';
const ALIBABA = 'help.aliyun.com/en/model-studio/error-code';
const OPENROUTER = 'openrouter.ai/docs/api/reference/errors-and-debugging';
const MISTRAL = 'docs.mistral.ai/resources/error-glossary';
const MINIMAX = 'platform.minimax.io/docs/api-reference/errorcode';
const VOLCENGINE = 'volcengine.com/docs/82379/1299023';

const MONEY =
  /\b(?:credits?|balance|funds?|prepa(?:y|id|yment)|billing|payments?|invoices?|arrears?|arrearage|spend(?:ing)?|(?<!thinking )budget|wallet|paid (?:plan|tier|account)|subscription(?! key)|(?:key|monthly|weekly|total) (?:\w{1,20} )?(?:limit|quota|allowance)|top(?:ped)?.?up|usage limits?|resource package|cost limit)\b|欠费|余额|余量|充值|账单/;
const IS_GONE =
  /\b(?:insufficient|not enough|no (?:more|remaining)|do(?:es)? not have|exhausted|depleted|used (?:up|all)|all used|ran out|run out|out of|too low|zero|below|negative|exceed\w{0,5}|reached|hit|over(?: (?:the|its|your))? (?:limit|budget)|overdue|past due|unpaid|not (?:enabled|active|activated|paid)|inactive|disabled|suspended|blocked|required?s?|requires more|expired|fail(?:ed|ure)|lacks?|can only afford|cannot afford|no longer (?:enough|sufficient))\b|欠费|不足|用尽|用完|耗尽|逾期/;
const OF_A_RATE =
  /\bper (?:second|minute|hour|sec|min)\b|\b(?:rpm|tpm|rps|tps|qps|itpm|otpm)\b|\brate limit|\brate.?limited\b|\bcall rate\b|\btoo many (?:concurrent )?(?:requests|tokens per)|\btoo (?:quickly|frequent\w{0,2}|fast)\b|\bconcurren|\bthrottl|\bslow down\b|频率|并发|速率|限流/;
const OF_CONTENT =
  /\bcontent (?:polic|filter|management|moderat|safety|security|inspect|violat|restrict|block|that violates)|\b(?:usage|acceptable use|our) (?:polic|guideline)|\bsafety\b(?! (?:settings|identifier))|\bmoderat|\binappropriate\b|(?<!case )\bsensitive\b|\bunsafe\b|\bharmful\b|\b(?:high|exists) risk\b|\bprohibited (?:content|use)\b|\bflagged\b|\bresponsible ai\b|\bcommunity guidelines\b|\bguardrail|敏感|不安全|违规|违反|审核|不当/;
const IS_REFUSED =
  /\b(?:filter|block|flag|reject|refus|declin|violat|not allowed|disallowed|detect|contain|trigger|exists|unsafe|fail|deemed|considered|prohibit|inspect|moderat)|敏感|不安全|违规|违反|不当|未通过/;
const OF_AN_ACCOUNT =
  /\b(?:account|organi[sz]ation|team|project|api key|user) (?:is|was|has been|violat)|账户|账号|帐号/;

/**
 * What vendors send for each cause; the first row that fits counts. Above are codes that only one vendor has, then what
 * any server may say in words. Statuses alone are in `diagnose.ts`.
 */
export const KNOWN: readonly Known[] = [
  // A rate that speaks of a quota or of credits, or of a plan to buy: it is free again soon.
  {
    vendor: 'OpenRouter',
    cause: 'rate',
    code: /^(?:openrouter )?in flight budget(?: exhausted)?$/,
    source: OPENROUTER,
  },
  {
    vendor: 'Alibaba',
    cause: 'rate',
    status: [429],
    says: [
      /\ballocated quota exceeded\b|\bcurrent requests?(?: list| limit)\b|\brequest rate increased too quickly\b|^throttling\b|^limit requests$/,
    ],
    source: 'help.aliyun.com/en/model-studio/rate-limit',
  },
  // A request that will never fit into a rate.
  {
    vendor: 'Groq, OpenAI',
    cause: 'size',
    says: [/\brequest too large\b/],
    source: 'console.groq.com/docs/rate-limits',
  },

  // Credit, by code.
  {
    vendor: 'OpenAI',
    cause: 'credit',
    code: /^(?:insufficient quota|credit balance exhausted|(?:organization|project) (?:spend|usage) limit exceeded|billing (?:hard limit reached|not active))$/,
    source: OPENAI,
  },
  {
    vendor: 'Anthropic',
    cause: 'credit',
    code: /^(?:billing error|credit balance too low|enforced spend limit reached)$/,
    source: ANTHROPIC,
  },
  {
    vendor: 'Anthropic',
    cause: 'credit',
    says: [/\breached your specified (?:\w{1,20} )?api usage limits\b|\bcredit balance is too low\b/],
    source: ANTHROPIC,
  },
  {
    vendor: 'Google',
    cause: 'credit',
    code: /per (?:project )?(?:\w{1,20} ){0,4}day\b|\bper day\b|\bperday\b/,
    source: 'ai.google.dev/gemini-api/docs/rate-limits',
  },
  {
    vendor: 'Google',
    cause: 'credit',
    says: [/\bprepayment credits are depleted\b|\benable billing\b/],
    source: GOOGLE,
  },
  // The sentence also speaks of plan and billing where a limit per minute is meant.
  {
    vendor: 'Google',
    cause: 'rate',
    status: [429],
    code: /^resource exhausted$/,
    says: [/\bexceeded your current quota\b|\bquota exceeded\b|\bresource has been exhausted\b/],
    source: GOOGLE,
  },
  { vendor: 'Moonshot', cause: 'credit', code: /^exceeded current quota error$/, source: MOONSHOT },
  { vendor: 'Zhipu', cause: 'credit', code: /^(?:1113|1308|1309|1310)$/, source: ZHIPU },
  {
    vendor: 'Alibaba',
    cause: 'credit',
    code: /^(?:arrearage|allocation quota free tier only|free tier only|(?:prepaid |postpaid )?bill(?:ing)? ?overdue)$/,
    source: ALIBABA,
  },
  { vendor: 'Alibaba', cause: 'credit', status: [400, 403], says: [/\bin good standing\b/], source: ALIBABA },
  {
    vendor: 'Groq',
    cause: 'credit',
    code: /^blocked api access$/,
    source: 'console.groq.com/docs/spend-limits',
  },
  {
    vendor: 'OpenRouter',
    cause: 'credit',
    code: /^(?:openrouter (?:credits|guardrail budget|workspace budget|key limit)|weight exceeds budget|payment required|insufficient credits)$/,
    source: OPENROUTER,
  },
  {
    vendor: 'Volcengine',
    cause: 'credit',
    code: /^account overdue(?: error)?$|^quota exceeded account$/,
    source: VOLCENGINE,
  },
  { vendor: 'MiniMax', cause: 'credit', code: /^1008$/, source: MINIMAX },
  {
    vendor: 'LiteLLM, new-api',
    cause: 'credit',
    code: /^(?:budget exceeded|insufficient (?:user )?quota|insufficient (?:account )?balance|insufficient funds|pre consume token quota failed)$/,
    source: 'docs.litellm.ai/docs/proxy/users',
  },

  // Overload, by code.
  { vendor: 'Anthropic', cause: 'overload', code: /^overloaded error$/, source: ANTHROPIC },
  { vendor: 'OpenAI', cause: 'overload', code: /^server is overloaded$/, source: OPENAI },
  { vendor: 'Moonshot', cause: 'overload', code: /^engine overloaded(?: error)?$/, source: MOONSHOT },
  { vendor: 'Zhipu', cause: 'overload', code: /^(?:1305|1312)$/, source: ZHIPU },
  {
    vendor: 'Groq',
    cause: 'overload',
    code: /^(?:capacity exceeded|over capacity)$/,
    source: 'console.groq.com/docs/flex-processing',
  },
  {
    vendor: 'Mistral',
    cause: 'overload',
    code: /^(?:3505|service tier capacity exceeded)$/,
    source: MISTRAL,
  },
  { vendor: 'Volcengine', cause: 'overload', code: /^server overloaded$/, source: VOLCENGINE },

  // Content filters, by code.
  {
    vendor: 'Azure',
    cause: 'filter',
    code: /^(?:content filter|responsible ai policy violation)$/,
    source: AZURE,
  },
  {
    vendor: 'OpenAI',
    cause: 'filter',
    code: /^(?:content policy violation|moderation blocked|cyber policy violation)$/,
    source: OPENAI,
  },
  {
    vendor: 'Alibaba',
    cause: 'filter',
    code: /^(?:data inspection failed|red line content filter)$/,
    source: ALIBABA,
  },
  { vendor: 'Zhipu', cause: 'filter', code: /^1301$/, source: ZHIPU },
  { vendor: 'MiniMax', cause: 'filter', code: /^(?:1026|1027)$/, source: MINIMAX },
  {
    vendor: 'xAI',
    cause: 'filter',
    code: /^safety check type\b/,
    source: 'github.com/UKGovernmentBEIS/inspect_ai/pull/2267',
  },
  { vendor: 'Volcengine', cause: 'filter', code: /\bsensitive content detected\b/, source: VOLCENGINE },

  // Words that any server may use. Rates come first, since their sentences may offer a plan or credits.
  {
    vendor: 'any',
    cause: 'rate',
    status: [402, 403, 429, 500, 502, 503, 529],
    says: [OF_A_RATE],
    source: 'console.groq.com/docs/rate-limits',
  },
  { vendor: 'Zhipu', cause: 'rate', code: /^(?:1302|1303)$/, source: ZHIPU },
  {
    vendor: 'any (xAI, DeepSeek, Mistral, Together, Fireworks, Zhipu)',
    cause: 'credit',
    status: [400, 401, 402, 403, 412, 422, 429],
    says: [MONEY, IS_GONE],
    unless: OF_A_RATE,
    source: 'docs.fireworks.ai/guides/inference-error-codes',
  },
  {
    vendor: 'any',
    cause: 'credit',
    says: [
      /\b(?:daily|monthly|weekly|free|free tier|account|user|trial) quota\b|\bplan and billing\b/,
      IS_GONE,
    ],
    unless: OF_A_RATE,
    source: 'docs.wandb.ai/inference/api-reference/errors',
  },
  {
    vendor: 'Fireworks',
    cause: 'credit',
    status: [402, 412],
    says: [/\baccount (?:\w{1,40} ){0,3}(?:is )?suspended\b/],
    source: 'docs.fireworks.ai/guides/inference-error-codes',
  },
  {
    vendor: 'any (OpenAI, xAI, DeepSeek, Moonshot, OpenRouter)',
    cause: 'filter',
    status: [400, 403, 422, 451, 500],
    says: [OF_CONTENT, IS_REFUSED],
    unless: OF_AN_ACCOUNT,
    source: 'openrouter.ai/docs/api/reference/errors-and-debugging#moderation-errors',
  },
  {
    vendor: 'any',
    cause: 'overload',
    status: [400, 408, 429, 498, 500, 502, 503, 504, 529],
    says: [
      /\bover ?loaded\b|\b(?:over|at|no|insufficient|not enough|out of) capacity\b|\bcapacity (?:is |temporarily )?(?:exceeded|reached|exhausted)\b|\b(?:server|model|engine|service|system|upstream|cluster)s? (?:\w{1,20} ){0,4}(?:busy|saturated)\b|\b(?:high|heavy|excessive) (?:demand|load|traffic)\b|负载|繁忙|访问量过大|过载/,
    ],
    source: 'api-docs.deepseek.com/quick_start/error_codes',
  },
  {
    vendor: 'Google, and any',
    cause: 'key',
    status: [400, 401, 403],
    says: [
      /\bapi key (?:is )?(?:not valid|invalid|expired|incorrect)\b|\b(?:invalid|incorrect|expired) (?:api key|authentication|credentials)\b/,
    ],
    source: GOOGLE,
  },
  {
    // Unknown model under 400; OpenRouter, Mistral and DeepSeek say so only in words.
    vendor: 'any (OpenAI, Groq, OpenRouter, Mistral, DeepSeek, Zhipu)',
    cause: 'model',
    status: [400, 403, 404, 422],
    says: [
      /^(?:invalid|unknown) model$|\binvalid model\b(?! \w{0,9}(?:param|put|config|setting))|\bmodel not (?:exist|found)\b|\bis not a valid model\b|^1211$|模型不存在/,
    ],
    source: MISTRAL,
  },
  {
    vendor: 'any (OpenAI, llama.cpp, vLLM)',
    cause: 'size',
    status: [400, 413, 422, 500],
    says: [
      /\bcontext (?:length|window|size)\b|\bmaximum context\b|\b(?:prompt|input|conversation)s? (?:\w{1,9} ){0,2}too long\b|\bexceed\w{0,3} (?:\w{1,9} ){0,3}context\b|超长/,
    ],
    source: 'github.com/ggml-org/llama.cpp/tree/master/tools/server',
  },
];

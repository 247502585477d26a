import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, explainIssue } from '../../config/errors';
import { readYaml } from '../../config/load';
import {
  type PlanExample,
  EXAMPLE_SET_NAMES,
  jsonBytes,
  MAX_EXAMPLES,
  MAX_EXAMPLES_BYTES,
  type Plan,
} from '../../plan/plan';
import { PlanError } from '../../plan/plan-error';
import { EXAMPLE_SETS } from '../../plan/prompt/example-plans';
import { ORDINAL } from '../../plan/reply/reader';
import { validatePlan } from '../../plan/validate';
import { planExampleSchema } from '../../protocol/cards';
import { MAX_STEPS } from '../../protocol/messages';
import type { TrainingConfig } from './schema';

/** Returns the examples of a policy's prompts; its checkpoints store them in full. @throws ConfigError */
export function examplesOf({
  prompt,
  examples = 'out-of-domain',
}: Pick<TrainingConfig['policy'], 'prompt' | 'examples'>): readonly PlanExample[] {
  if (prompt === 'compact') return [];
  const set = EXAMPLE_SET_NAMES.find((name) => name === examples);
  if (set !== undefined) return EXAMPLE_SETS[set];
  if (existsSync(examples)) return readExamples(examples);
  throw new ConfigError(
    `training.policy.examples is ${JSON.stringify(examples)}, and there is no such file: name one that "train examples ` +
      `--few-shot" made, or one of ${EXAMPLE_SET_NAMES.join(', ')}`,
  );
}

const fileSchema = z.object({ examples: z.array(planExampleSchema).min(1).max(MAX_EXAMPLES) });

/** Reads a YAML file of examples, relative to the working directory. @throws ConfigError with the mistake's place */
export function readExamples(file: string): readonly PlanExample[] {
  const { content, placeOf } = readYaml(readFileSync(file, 'utf8'), file);
  const named = { examples: content };
  const { data, error } = fileSchema.safeParse(named);
  const [issue] = error?.issues ?? [];
  if (issue !== undefined) {
    throw new ConfigError(`${file}:${placeOf(issue.path.slice(1))}: ${explainIssue(issue, named)}`);
  }
  const { examples = [] } = data ?? {};
  for (const [index, { plan }] of examples.entries()) {
    const problem = problemOf(plan);
    if (problem !== null) throw new ConfigError(`${file}:${placeOf([index, 'plan'])}: ${problem}`);
  }
  const bytes = jsonBytes(examples);
  if (bytes <= MAX_EXAMPLES_BYTES) return examples;
  throw new ConfigError(
    `${file} holds ${bytes} bytes of examples, and a prompt shows at most ${MAX_EXAMPLES_BYTES}: take some out`,
  );
}

/** Checks a plan without knowing its pool: any number may name a worker. */
function problemOf(plan: Plan): string | null {
  const workers = plan.steps.map(({ worker }) => worker);
  if (workers.some((worker) => !ORDINAL.test(worker))) {
    return 'workers of an example are numbers from "0", as the Conductor writes them';
  }
  try {
    validatePlan(plan, { workers, maxSteps: MAX_STEPS, round: 0 });
    return null;
  } catch (error) {
    if (error instanceof PlanError) return error.message;
    throw error;
  }
}

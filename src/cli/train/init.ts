import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { stringify } from 'yaml';
import { EXIT, type ExitCode } from '../kit/ending';
import { UsageError } from '../../errors';
import { ask as askPerson, isPersonHere, say } from '../kit/terminal';
import { defaultConfig } from '../../config/default-pool';
import { configPath, readYaml } from '../../config/load';
import { counted } from '../../trace/describe';
import {
  parseTrainable,
  readProfile,
  shippedProfiles,
  type TrainingConfig,
  trainingSchema,
} from '../../training/config';
import { serversOf } from '../../training/names';

interface InitOptions {
  readonly config?: string;
  /** True if no name was given. */
  readonly profile?: string | true;
  readonly run?: string;
  readonly train?: string;
  readonly heldOut?: string;
  readonly exampleQuestions?: boolean;
  /** A folder, or `tiny`. */
  readonly base?: string;
  readonly policyServer?: string;
  readonly checkpoints?: string;
  readonly yes?: boolean;
}

/** `train init`: appends a complete section `training:` to the configuration, whose present text stays as it is. */
export async function initTraining(options: InitOptions): Promise<ExitCode> {
  const path = configPath({ path: options.config, env: process.env, cwd: process.cwd() });
  const file = relative('', path);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
  if (before !== null) requireNoSection(before, file);
  const ask = options.yes === true || !isPersonHere() ? takeDefault : askHere;
  const training = await chooseSettings(options, ask);
  const section = writeSection(training);
  // A new file also gets the models that are used without one.
  const pool = before ?? stringify((await defaultConfig(process.env)).config, { lineWidth: 0 });
  // Appended, so that the present text stays unchanged.
  const after = `${pool.replace(/\n?$/, '\n')}\n${section}`;
  parseTrainable(readYaml(after, file).content as Parameters<typeof parseTrainable>[0]);
  await writeFile(path, after, { flag: before === null ? 'wx' : 'w' });
  const wrote = `Wrote ${file}, with the models that are used here without such a file, and this section:`;
  say(before === null ? wrote : `Added this section to ${file}:`);
  say(section.trimEnd().replace(/^/gm, '  '));
  await offerQuestions(training.data, options.exampleQuestions === true, ask);
  sayNext(training);
  return EXIT.answered;
}

function requireNoSection(text: string, file: string): void {
  const { content, placeOf } = readYaml(text, file);
  if (typeof content !== 'object' || content === null || !('training' in content)) return;
  throw new UsageError(
    `${file}:${placeOf(['training'])}: there is a section "training:" already, and nothing was changed: edit it there`,
  );
}

/** Asks a question; returns `otherwise` without an answer. */
type Ask = (question: string, otherwise: string) => Promise<string>;

const takeDefault: Ask = (_, otherwise) => Promise.resolve(otherwise);

const askHere: Ask = async (question, otherwise) =>
  ((await askPerson(`${question} [${otherwise}] `)) ?? '').trim() || otherwise;

type ChosenSettings = Awaited<ReturnType<typeof chooseSettings>>;

const DEFAULT_PROFILE = 'cpu-demo';

async function chooseSettings(options: InitOptions, ask: Ask) {
  const profile = await chooseProfile(options.profile, ask);
  const preset = presetOf(profile);
  const train = options.train ?? (await ask('File of questions to learn from', 'questions.jsonl'));
  const heldOut = options.heldOut ?? (await ask('File of questions to judge by', 'held-out.jsonl'));
  const usualBase = preset.base.kind === 'folder' ? preset.base.path : 'tiny';
  const base = options.base ?? (await ask('Folder of the model to start from, or tiny', usualBase));
  const baseUrl =
    options.policyServer ?? (await ask('Address of the policy server', serversOf(preset.policy)[0] ?? ''));
  const checkpoints = options.checkpoints ?? (await ask('Folder for checkpoints', preset.checkpoints));
  return {
    profile,
    run: options.run ?? preset.run,
    data: { train, heldOut },
    base: base === 'tiny' ? ({ kind: 'tiny' } as const) : ({ kind: 'folder', path: base } as const),
    policy: { baseUrl },
    checkpoints,
    cycles: preset.cycles,
    budget: preset.budget,
  };
}

/** Returns a profile's settings with all defaults. */
function presetOf(profile: string): TrainingConfig {
  const policy = { baseUrl: 'http://127.0.0.1:8001/v1' };
  const needed = { base: { kind: 'tiny' }, policy, data: { train: 'a', heldOut: 'b' } };
  return trainingSchema.parse({ ...needed, ...readProfile(profile) });
}

async function chooseProfile(named: string | true | undefined, ask: Ask): Promise<string> {
  const list = shippedProfiles().map(({ name, summary }) => `  ${name.padEnd(16)} ${summary}`);
  if (named === true) throw new UsageError(`--profile needs a name:\n${list.join('\n')}`);
  if (named !== undefined) return named;
  if (ask !== takeDefault) say(`A profile says what a night does, and on what machine:\n${list.join('\n')}`);
  return ask('Profile', DEFAULT_PROFILE);
}

const COMMENTS: Readonly<Record<string, string>> = {
  profile: 'supplies every setting that is not listed here',
  run: 'name of the training run, for all its nights',
  data: 'JSON lines: { id, question, answer, grader }',
  base: "the model to start from, on the trainer's machine",
  policy: 'address of the policy server',
  checkpoints: 'a folder that trainer and policy server share',
  cycles: 'per night',
  budget: 'per night',
};

function writeSection(training: ChosenSettings): string {
  const lines = Object.entries(training).map(([key, value]) => {
    const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
    return `  ${key}: ${text} # ${COMMENTS[key] ?? ''}\n`;
  });
  return `training:\n${lines.join('')}`;
}

/** Example questions, beside the sources in the package. They show that a night works, not how good a Conductor is. */
const EXAMPLES = join(__dirname, '../../../src/cli/train/example-questions');

/** Offers small example questions in place of missing files; never overwrites a file. */
async function offerQuestions(
  { train, heldOut }: ChosenSettings['data'],
  isWanted: boolean,
  ask: Ask,
): Promise<void> {
  const missing = [train, heldOut].filter((file) => !existsSync(file));
  const names = missing.join(' and ');
  if (names === '') return;
  const offer = (): Promise<string> => ask(`Write small example questions to ${names}?`, 'yes');
  if (!isWanted && (ask === takeDefault || !/^y(es)?$/i.test(await offer()))) {
    say(`Not there yet: ${names}. Write them, one question per line, see docs/configuration.md.`);
    return;
  }
  for (const file of missing) {
    const lines = await readFile(join(EXAMPLES, file === train ? 'train.jsonl' : 'held-out.jsonl'), 'utf8');
    await writeFile(file, lines, { flag: 'wx' });
    const count = lines.trimEnd().split('\n').length;
    say(`Wrote ${file}: ${counted(count, 'example question')}, to be replaced by your own.`);
  }
}

function sayNext({ profile, base }: ChosenSettings): void {
  if (base.kind === 'folder' && !existsSync(base.path)) {
    say(`Not there yet: ${base.path}. Put the model there: its weights as safetensors, and its tokenizer.`);
  }
  // A compact prompt omits the rules of plans, so the policy learns them from examples alone.
  const teaching =
    presetOf(profile).policy.prompt === 'full'
      ? []
      : ['train examples --from-prompted', warmStartWith('examples.jsonl', base)];
  const next = [...teaching, 'train start'].map((command) => `  temporal-conductor ${command}`);
  say(`Next, in this folder: "temporal-conductor train up", and in another terminal\n${next.join('\n')}`);
}

/** Returns the command that teaches examples; random weights need a rate that would spoil a pretrained model. */
export function warmStartWith(file: string, { kind }: { readonly kind: 'tiny' | 'folder' }): string {
  const rate = kind === 'tiny' ? '6e-3' : '1e-5';
  return `train warm-start --examples ${file} --steps 400 --learning-rate ${rate}`;
}

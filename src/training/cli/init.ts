import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { Document, isMap, isNode, parseDocument, stringify } from 'yaml';
import { personAtTerminal } from '../../cli/approval/verdict';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { say } from '../../cli/terminal';
import { defaultConfig } from '../../config/default-pool';
import { configPath, readYaml } from '../../config/load';
import { freePorts } from '../../local/embedded-server';
import { codeOf } from '../../reason-of';
import { counted } from '../../trace/describe';
import { parseTrainable, readProfile, shippedProfiles } from '../config/load';
import { type TrainingConfig, type TrainingInput, trainingSchema } from '../config/schema';
import { exampleQuestions } from './example-questions';

interface InitOptions {
  readonly config?: string;
  /** True where no name was given. */
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

/** `train init`: writes a whole section `training:` below what stands in the configuration, which stays as it is. */
export async function initTraining(options: InitOptions): Promise<ExitCode> {
  const path = configPath({ path: options.config, env: process.env, cwd: process.cwd() });
  const file = relative('', path);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
  if (before !== null) requireNoSection(before, file);
  const ask = options.yes === true ? takeDefault : asker();
  const training = await chooseSettings(options, ask);
  const section = writeSection(training);
  const after = addSection(before ?? (await writePool()), section);
  parseTrainable(readYaml(after, file).content as Parameters<typeof parseTrainable>[0]);
  await writeFile(path, after, { flag: before === null ? 'wx' : 'w' });
  const wrote = `Wrote ${file}, with the models that are used here without such a file, and this section:`;
  say(before === null ? wrote : `Added this section to ${file}:`);
  say(section.trimEnd().replace(/^/gm, '  '));
  await offerQuestions(training.data, options, ask);
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

/** The answer to a question, or what holds without one. */
type Ask = (question: string, otherwise: string) => Promise<string>;

const takeDefault: Ask = (_, otherwise) => Promise.resolve(otherwise);

/** Asks the person at the terminal; where there is none, the defaults hold. */
function asker(): Ask {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return takeDefault;
  const person = personAtTerminal(new AbortController().signal);
  return async (question, otherwise) =>
    ((await person.ask(`${question} [${otherwise}] `)) ?? '').trim() || otherwise;
}

interface ChosenSettings extends TrainingInput {
  readonly profile: string;
  readonly data: { readonly train: string; readonly heldOut: string };
  readonly base: { readonly kind: 'tiny' } | { readonly kind: 'folder'; readonly path: string };
}

const DEFAULT_PROFILE = 'cpu-demo';

async function chooseSettings(options: InitOptions, ask: Ask): Promise<ChosenSettings> {
  const profile = await chooseProfile(options.profile, ask);
  const preset = presetOf(profile);
  const train = options.train ?? (await ask('File of questions to learn from', 'questions.jsonl'));
  const heldOut = options.heldOut ?? (await ask('File of questions to judge by', 'held-out.jsonl'));
  const usualBase = preset.base.kind === 'folder' ? preset.base.path : 'tiny';
  const base = options.base ?? (await ask('Folder of the model to begin with, or tiny', usualBase));
  const baseUrl = options.policyServer ?? (await ask('Where plans are sampled', await usualServer(preset)));
  const checkpoints = options.checkpoints ?? (await ask('Folder for checkpoints', preset.checkpoints));
  return {
    profile,
    run: options.run ?? preset.run,
    data: { train, heldOut },
    base: base === 'tiny' ? { kind: 'tiny' } : { kind: 'folder', path: base },
    policy: { baseUrl },
    checkpoints,
    cycles: preset.cycles,
    budget: preset.budget,
  };
}

/** On a processor, `train up` starts a policy server there: where something listens already, at another port. */
async function usualServer({ policy, trainer }: TrainingConfig): Promise<string> {
  if (trainer.device !== 'cpu') return policy.baseUrl;
  const url = new URL(policy.baseUrl);
  const [port = ''] = await freePorts([Number(url.port)]);
  if (url.port !== String(port)) say(`Something listens on port ${url.port} already, so it is ${port} here.`);
  url.port = String(port);
  return url.href;
}

/** Settings that a profile gives if nothing else is said. */
function presetOf(profile: string): TrainingConfig {
  const policy = { baseUrl: 'http://127.0.0.1:8001/v1' };
  const needed = { base: { kind: 'tiny' }, policy, data: { train: 'a', heldOut: 'b' } };
  return trainingSchema.parse({ ...needed, ...readProfile(profile) });
}

function listProfiles(): string {
  return shippedProfiles()
    .map(({ name, summary }) => `  ${name.padEnd(16)} ${summary}`)
    .join('\n');
}

async function chooseProfile(named: string | true | undefined, ask: Ask): Promise<string> {
  if (named === true) throw new UsageError(`--profile needs a name:\n${listProfiles()}`);
  if (named !== undefined) return named;
  if (ask !== takeDefault) {
    say('A profile says what a night does, and on what machine:');
    say(listProfiles());
  }
  return ask('Profile', DEFAULT_PROFILE);
}

const COMMENTS: Readonly<Record<string, string>> = {
  profile: 'completes what does not stand here',
  run: 'its name, over all nights',
  data: 'JSON lines: { id, question, answer, grader }',
  base: "the model to begin with, on the trainer's machine",
  policy: 'where plans are sampled',
  checkpoints: 'a folder that trainer and policy server see',
  cycles: 'of one night',
  budget: 'of one night',
};

function writeSection(training: ChosenSettings): string {
  const document = new Document({ training });
  for (const [key, comment] of Object.entries(COMMENTS)) {
    const node = document.getIn(['training', key], true);
    if (isMap(node)) node.flow = true;
    if (isNode(node)) node.comment = ` ${comment}`;
  }
  return document.toString({ lineWidth: 0 });
}

/** The models of someone who wrote no configuration. */
async function writePool(): Promise<string> {
  const { config } = await defaultConfig(process.env);
  return stringify(config, { lineWidth: 0 });
}

/** Below the text, which so keeps every character; a text that ends otherwise than in a block is written anew. */
function addSection(text: string, section: string): string {
  const below = `${text.replace(/\n?$/, '\n')}\n${section}`;
  if (parseDocument(below).errors.length === 0) return below;
  const document = parseDocument(text);
  document.set('training', parseDocument(section).get('training'));
  return document.toString({ lineWidth: 0 });
}

/** Small ones, for a person who has none yet. No file is ever overwritten. */
async function offerQuestions(
  { train, heldOut }: ChosenSettings['data'],
  { exampleQuestions: isWanted }: InitOptions,
  ask: Ask,
): Promise<void> {
  const missing = [train, heldOut].filter((file) => !existsSync(file));
  if (missing.length === 0) return;
  const isAsked = isWanted !== true && ask !== takeDefault;
  const answer = isAsked
    ? await ask(`Write small example questions to ${missing.join(' and ')}?`, 'yes')
    : 'no';
  if (isWanted !== true && !/^y(es)?$/i.test(answer)) {
    say(`Not there yet: ${missing.join(', ')}. Write them, one question a line, see docs/configuration.md.`);
    return;
  }
  const examples = exampleQuestions();
  for (const [file, questions] of [
    [train, examples.train],
    [heldOut, examples.heldOut],
  ] as const) {
    const lines = questions.map((question) => `${JSON.stringify(question)}\n`).join('');
    const written = await writeFile(file, lines, { flag: 'wx' }).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST') return false;
        throw error;
      },
    );
    say(
      written
        ? `Wrote ${file}: ${counted(questions.length, 'example question')}, to be replaced by your own.`
        : `${file} is there already, and stays as it is.`,
    );
  }
}

function sayNext({ profile, base }: ChosenSettings): void {
  if (base.kind === 'folder' && !existsSync(base.path)) {
    say(`Not there yet: ${base.path}. Put the model there: its weights as safetensors, and its tokenizer.`);
  }
  // A model that is asked without the rules of plans knows them from examples alone.
  const teaching =
    presetOf(profile).policy.prompt === 'full'
      ? []
      : ['train examples --from-prompted', warmStartWith('examples.jsonl', base)];
  const next = [...teaching, 'train start'].map((command) => `  temporal-conductor ${command}`);
  say(`Next, in this folder: "temporal-conductor train up", and beside it\n${next.join('\n')}`);
}

/** The command that teaches examples: to a model of random weights at a rate that would spoil one that knows something. */
export function warmStartWith(file: string, { kind }: { readonly kind: 'tiny' | 'folder' }): string {
  const rate = kind === 'tiny' ? '6e-3' : '1e-5';
  return `train warm-start --examples ${file} --steps 400 --learning-rate ${rate}`;
}

import { type Command, Option } from 'commander';
import {
  addersTo,
  LOG_FORMAT_OPTION,
  METRICS_OPTION,
  read,
  reader,
  run,
  VERSIONING_OPTION,
} from '../kit/arguments';
import { MAX_EXAMPLES } from '../../plan/plan';
import { isTimeZone, MOST, readCheckpointId } from '../../training/names';

const timeZone = reader('a name of the tz database, such as Europe/Berlin', (name) =>
  isTimeZone(name) ? name : undefined,
);

const checkpoint = reader('a checkpoint such as nightly/000040', (id) =>
  readCheckpointId(id) === null ? undefined : id,
);

/** Time of day, as a cron expression. */
const everyDay = reader('a time of day such as 03:30', (text) => {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hour === undefined ? undefined : `${Number(minute)} ${Number(hour)} * * *`;
});

const RUN = ['--run <name>', 'training run (default: the one that the configuration names)'] as const;

const CHECKPOINT = ['<checkpoint>', 'number of its cycle, or its name, e.g. nightly/000040'] as const;

const nights = () => import('./night.js');
const reports = () => import('./status.js');
const checkpoints = () => import('./checkpoints.js');

/** Adds the commands below `train`. Each loads what it needs only when it is called. */
export function addTrainCommands(train: Command): void {
  const { add, addOffline } = addersTo(train);
  /** Adds a command about one training run. */
  const addOf = (usage: string, description: string): Command => add(usage, description).option(...RUN);

  addOffline(
    'init',
    'write a section "training:" into the configuration: asks at a terminal for what is not given',
  )
    .option(...RUN)
    .option(
      '--profile [name]',
      'a profile of this package, or a YAML file; without a name, lists them (default: cpu-demo)',
    )
    .option('--train <file>', 'questions to learn from (default: questions.jsonl)')
    .option('--held-out <file>', 'questions to judge by (default: held-out.jsonl)')
    .option('--example-questions', 'write small examples to those files if they are missing')
    .option('--base <folder>', 'of the model to start from; tiny: a small one with random weights')
    .option('--policy-server <url>', 'address of the policy server, e.g. http://127.0.0.1:8001/v1')
    .option('--checkpoints <folder>', "for the trainer's checkpoints (default: checkpoints)")
    .option('-y, --yes', 'ask nothing: take the defaults')
    .action(run(() => import('./init.js'), 'initTraining'));

  add('up', 'run everything that nights need on this machine, until Ctrl-C')
    .option(...METRICS_OPTION, read.address)
    .addOption(VERSIONING_OPTION)
    .addOption(LOG_FORMAT_OPTION)
    .action(run(() => import('./up.js'), 'trainUp'));

  addOf('start', 'start a night of training now, and leave it to running workers')
    .option('--cycles <number>', 'how many, instead of the configured number', read.countTo(MOST.cycles))
    .option('--from <checkpoint>', 'continue from this one, e.g. nightly/000040', checkpoint)
    .option('--date <date>', 'date of the night (default: today)', read.date)
    .option('--timezone <name>', 'time zone of that date, e.g. Europe/Berlin', timeZone)
    .action(run(nights, 'startNight'));

  addOf('pause', 'pause the night after its current cycle').action(run(nights, 'pauseNight'));
  addOf('resume', 'resume the night').action(run(nights, 'resumeNight'));
  addOf('stop', 'end the night after its current cycle, and judge what it learned')
    .option('--now', 'end it at once, and judge nothing')
    .action(run(nights, 'stopNight'));
  addOf('budget', 'change what the rest of the night may use')
    .option('--max-cost <usd>', 'none: no limit', read.usd)
    .option('--hours <number>', 'from the start of the night', read.hours)
    .action(run(nights, 'budgetNight'));

  const other = (flag: string, description: string, conflicts: string[]): Option =>
    new Option(flag, description).conflicts(conflicts);
  addOf('schedule', 'have nights start by themselves, or see when the next ones do')
    .option('--at <time>', 'every day at this time, e.g. 03:30', everyDay)
    .addOption(other('--cron <expression>', 'five fields, e.g. "30 3 * * 1-5"', ['at']))
    .option(
      '--timezone <name>',
      "time zone of that time and of the nights' dates, e.g. Europe/Berlin",
      timeZone,
    )
    .option('--cycles <number>', 'of each night, instead of the configured number', read.countTo(MOST.cycles))
    .addOption(
      new Option('--jitter <duration>', 'start up to this much later')
        .argParser(read.duration)
        .default(60_000, '1m'),
    )
    .option(
      '--time-limit <duration>',
      'when the server ends a night (default: 2 h after its budget)',
      read.duration,
    )
    .addOption(other('--remove', 'start no more nights', ['at', 'cron']))
    .addOption(other('--pause', 'pause the schedule', ['at', 'cron', 'remove']))
    .addOption(other('--resume', 'resume it, also after a failed night', ['at', 'cron', 'remove', 'pause']))
    .action(run(nights, 'scheduleTraining'));

  addOf('status', 'follow the night under way, or see the latest, the next and what serves')
    .option('--json', 'print everything at once as JSON')
    .action(run(reports, 'trainStatus'));

  add('list', 'print the nights of all training runs, or of one')
    .option('--run <name>', 'only this one')
    .option('--json', 'print all metrics as JSON')
    .action(run(reports, 'listNights'));

  addOf('show', 'print the groups of a cycle: plans, answers, verdicts and rewards')
    .argument('<cycle>', 'its number', read.count)
    .option('--json', 'print everything as JSON')
    .action(run(() => import('./show.js'), 'showCycle'));

  addOf('notes', 'print notes on the workers, from how they answered the training questions').action(
    run(() => import('./notes.js'), 'writeNotes'),
  );

  addOf('plot', 'report a training run: figures and charts as one page, Markdown and SVG')
    .requiredOption('--out <folder>', 'for the report')
    .action(run(() => import('./plot.js'), 'plotRun'));

  addOf('export', 'write a checkpoint as a Hugging Face model: whole, with tokenizer, chat template and card')
    .argument(...CHECKPOINT)
    .argument('<folder>', "on the trainer's machine; not there yet, or empty")
    .action(run(checkpoints, 'exportCheckpoint'));

  addOf(
    'examples',
    'keep plans whose answers were right as examples: for warm-start to teach, or for prompts',
  )
    .option('--from-prompted', 'have the configured Conductor plan the training questions')
    .option('--from-runs [ids...]', 'take solves of training questions: these, or the latest')
    .addOption(
      other('--few-shot <number>', 'keep this many, with their reasoning, for prompts', [
        'fromRuns',
      ]).argParser(read.countTo(MAX_EXAMPLES)),
    )
    .option('--data <file>', 'questions to ask instead of those to learn from, e.g. of another domain')
    .option('--out <file>', 'where they are added (default: examples.jsonl; for prompts few-shot.yaml)')
    .option('--questions <number>', 'how many to ask at most', read.count, 100)
    .option('--samples <number>', 'plans per question', read.countTo(MOST.plans), 1)
    .option('--max-cost <usd>', 'for all that is asked, however often; none: no limit (default: 5)', read.usd)
    .action(run(() => import('./examples.js'), 'gatherExamples'));

  const fromTraces = new Option('--from-traces [run]', 'imitate the plans of a training run that were right');
  addOf('warm-start', 'make a first checkpoint that imitates examples, for nights to start from')
    .option(
      '--examples <file>',
      'JSON lines: {"question", "plan"}, {"messages", "completion"} or {"prompt", "completion"}',
    )
    .addOption(fromTraces.conflicts('examples'))
    .requiredOption('--steps <number>', 'optimizer steps', read.count)
    .requiredOption('--learning-rate <number>', 'e.g. 1e-5', read.amount)
    .option('--batch <number>', 'examples per step', read.count, 32)
    .option('--warmup-steps <number>', 'over which the learning rate rises', read.whole, 0)
    .option('--all-weights', 'change the whole model, which adapters of the run then adapt')
    .action(run(checkpoints, 'warmStart'));

  addOf('promote', 'have a checkpoint serve from the next solve on, whatever the gate says')
    .argument(...CHECKPOINT)
    .option('--reason <text>', 'kept with it', 'promoted by hand')
    .action(run(checkpoints, 'promoteCheckpoint'));
  addOf('rollback', 'have the previous checkpoint serve again')
    .option('--reason <text>', 'kept with it', 'rolled back by hand')
    .action(run(checkpoints, 'rollbackCheckpoint'));
  addOf('pin', 'keep the gate from changing what serves')
    .option('--off', 'remove the pin', false)
    .action(run(checkpoints, 'pinCheckpoint'));
}

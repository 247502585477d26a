import { statSync } from 'node:fs';
import { Command, Option } from 'commander';
import { addersTo, LOG_FORMAT_OPTION, METRICS_OPTION, read, run, VERSIONING_OPTION } from './kit/arguments';
import { addTrainCommands } from './train/program';
import type { PlainGrader } from '../evaluation/data';
import { UsageError } from '../errors';
import { readVersion } from '../runtime/version';
import type { LogForm } from './kit/log-form';
import { HARMLESS_OUTPUT, sayAs } from './kit/terminal';
import { RUN_STATES } from '../trace/run-filter';

const EXIT_CODES = `
An <id> may be a prefix of one that no other run has, or "last": the run that was started last.
Exit codes: 0 answered, 1 failed, 2 bad usage or configuration, 3 stopped by a limit, 130 interrupted.
The Temporal server is the one that TEMPORAL_ADDRESS names, or this folder's own, started when needed.`;

const METHODS_HELP =
  'e.g. conductor,workers,best-of,vote: see docs/evaluation.md for all (default: conductor,workers)';

const GRADERS: readonly PlainGrader[] = ['freeform', 'exact', 'number', 'choice', 'math'];

const JSON_OPTION = ['--json', 'print the whole result as JSON'] as const;

const solving = () => import('./solve/solve.js');
const runs = () => import('./solve/runs.js');
const steering = () => import('./solve/steer.js');
const serving = () => import('./serve/serve.js');
const gateways = () => import('./serve/gateway.js');
const pools = () => import('./setup/pool.js');
const dataSets = () => import('./evaluate/data.js');
const stores = () => import('./setup/store.js');
const keys = () => import('./serve/key.js');

/** Builds every command with its options, in help order; the code of a command is loaded only when it is called. */
export function buildProgram(): Command {
  const program = new Command('temporal-conductor')
    .description('A Conductor model writes a plan for a team of language models; Temporal runs it durably.')
    .version(readVersion())
    .addHelpText('after', EXIT_CODES)
    .configureOutput(HARMLESS_OUTPUT)
    .exitOverride()
    .hook('preAction', chooseLogForm)
    .hook('preAction', checkFolder)
    .showSuggestionAfterError();

  const { add, addOffline } = addersTo(program);
  const detach = new Option('--detach', 'start it, print its id and leave it to running workers');
  detach.conflicts('json');
  const stream = new Option('--stream', 'print the answer while it is written');
  const failIf = new Option('--fail-if <condition>', 'exit with 1 if it holds: "conductor < worker:best"');
  failIf.conflicts('detach');
  const prompts = new Option(
    '--prompts <form>',
    "prompt form for known data sets: plain (default) or the paper's",
  ).choices(['plain', 'paper']);
  const grader = new Option('--grader <name>', 'for rows without one (default: freeform)').choices(GRADERS);

  add('solve', 'solve a question with a worker of its own, and print the answer')
    .argument('[question]', '- reads it from standard input')
    .option(
      '--messages <file>',
      'a conversation in JSON, whose last turn is the question; - for standard input',
    )
    .option('--schema <file>', 'a JSON Schema that the answer must fit')
    .option('--seed <number>', 'sent to models that take one', read.integer)
    .option('--allow <ids>', 'use these workers only, e.g. gpt,sonnet', read.ids)
    .option('--deny <ids>', 'do not use these workers', read.ids)
    .option('--conductor <name>', 'entry of "conductors:" that writes the plan', read.name)
    .option('--max-depth <number>', 'how deep the Conductor may call itself; none: no limit', read.depth)
    .option('--max-cost <usd>', 'end with the best answer so far before more is spent', read.usd)
    .addOption(
      new Option('--approve [which]', 'ask before a plan is run: the first one, or those of children too')
        .choices(['plan', 'all'])
        .preset('plan'),
    )
    .option('--priority <1-5>', 'queue priority, from 1 (first) to 5 (last); default 3', read.priority)
    .option('--tenant <name>', 'tenant of the run, for fair queueing of waiting calls', read.name)
    .option(...JSON_OPTION)
    .addOption(stream.conflicts(['json', 'detach']))
    .addOption(detach)
    .hook('preAction', (solve) => {
      const isAsked = solve.args.length > 0;
      if (isAsked === 'messages' in solve.opts()) {
        solve.error('error: give either a question, or --messages with a conversation that ends with one');
      }
    })
    .action(run(solving, 'solve'));

  add('watch <id>', 'follow a run to its end, and print the answer')
    .option(...JSON_OPTION)
    .action(run(runs, 'watch'));

  add('list', 'show the runs that have not ended, and the last ones that have')
    .option('--limit <number>', 'how many of those that have ended', read.whole, 10)
    .addOption(
      new Option(
        '--state <state>',
        'only those that wait for you, run, failed, are done or were cancelled',
      ).choices(RUN_STATES),
    )
    .option(
      '--where <what=value...>',
      'only those of a tenant, key or model, e.g. tenant=acme (needs temporal.searchAttributes)',
      read.where,
    )
    .option('--json', 'print them as JSON')
    .action(run(runs, 'printRuns'));

  const formats = ['tree', 'json', 'mermaid', 'markdown'];
  add('trace <id>', 'print what happened in a run so far')
    .addOption(new Option('--format <format>').choices(formats).default('tree'))
    .action(run(runs, 'trace'));

  const groups = ['day', 'worker', 'workflow', 'model', 'key', 'day-worker', 'tool'];
  add('cost', 'sum what was spent, from the ledger')
    .addOption(new Option('--by <what>', 'one line for each').choices(groups).default('day'))
    .option('--since <date>', 'first day, e.g. 2026-11-01', read.date)
    .option('--until <date>', 'last day', read.date)
    .option('--utc', 'count days in UTC instead of the local time zone')
    .addOption(new Option('--csv', 'print comma-separated values').conflicts('json'))
    .option('--json', 'print the sums as JSON')
    .action(run(() => import('./solve/cost.js'), 'cost'));

  add('depth <id>', 'change how deep the Conductor may call itself, in running children too')
    .argument('<number>', '0: not at all; none: no limit', read.depth)
    .action(run(steering, 'changeDepth'));

  add('limits <id>', 'change what a run and its children may use, and print what then holds')
    .option('--max-cost <usd>', 'none: no limit', read.usd)
    .option('--calls <number>', 'requests to models', read.calls)
    .option('--tokens <number>', 'input and output; none: no limit', read.tokens)
    .option('--wall-clock <duration>', 'from the start of the run, e.g. 30m', read.duration)
    .option('--steps <number>', 'most steps of one plan', read.steps)
    .action(run(steering, 'changeLimits'));

  const rejection = new Option(
    '--reject <reason>',
    'say no: the Conductor, or the model that asks, is told why',
  );
  add('approve <id>', 'approve, change or reject a plan or a call of a tool that is waiting')
    .option('--call <call>', 'which call, if several wait, e.g. 2.coder.1.1')
    .option(
      '--edit <file>',
      'run this plan instead: YAML (steps from 1), JSON (from 0) or the three lists; or call with these arguments',
    )
    .addOption(rejection.conflicts('edit'))
    .action(run(steering, 'approve'));

  add('hint <id> <text>', 'give the Conductor something to consider, from its next call on').action(
    run(steering, 'addHint'),
  );

  add('retry <id>', 'run a plan again from a step, as a new run that keeps the outputs before it')
    .requiredOption('--from <step>', 'number of the step, from 1', read.count)
    .option('--worker <id>', 'another worker for that step')
    .option('--subtask <text>', 'another task for that step')
    .option('--max-cost <usd>', 'for the new run, in place of the earlier limit', read.usd)
    .option(...JSON_OPTION)
    .action(run(solving, 'retry'));

  add('cancel <id>', 'stop a run, and wait until it has ended').action(run(runs, 'cancel'));

  add('up', 'run a Temporal server, a worker and a gateway on this machine, until Ctrl-C')
    .option('--port <number>', 'port of the gateway (default: 8484, or a free one)', read.port)
    .option(...METRICS_OPTION, read.address)
    .addOption(VERSIONING_OPTION)
    .addOption(LOG_FORMAT_OPTION)
    .action(run(serving, 'up'));

  add('server', 'run a Temporal server on this machine for a worker of your own, until Ctrl-C')
    .argument('[command...]', 'after --: run this beside it, with TEMPORAL_ADDRESS set, and end with it')
    .action(run(serving, 'server'));

  for (const [part, action] of [
    ['up-worker', run(serving, 'upWorker')],
    ['up-gateway', run(gateways, 'upGateway')],
  ] as const) {
    const command = addOffline(part, '', { hidden: true }).option(...METRICS_OPTION, read.address);
    command.addOption(VERSIONING_OPTION).addOption(LOG_FORMAT_OPTION).action(action);
  }

  add('worker', 'run a worker for the Temporal server that TEMPORAL_ADDRESS names, until Ctrl-C')
    .option('--health <port>', 'answer there over HTTP: 200 while it polls for work, else 503', read.port)
    .option(...METRICS_OPTION, read.address)
    .addOption(VERSIONING_OPTION)
    .addOption(LOG_FORMAT_OPTION)
    .action(run(serving, 'worker'));

  add('gateway', 'answer clients of OpenAI and Anthropic over HTTP, until Ctrl-C')
    .option('--port <number>', 'port to listen on', read.port, 8484)
    .option('--host <address>', 'address to listen on, e.g. 0.0.0.0 for other machines', '127.0.0.1')
    .option('--allow-host <name...>', 'host names that requests may use, besides those of this machine')
    .option('--temporal-ui <url>', "address of Temporal's own page, for links to it", read.page)
    .addOption(LOG_FORMAT_OPTION)
    .action(run(gateways, 'gateway'));

  add(
    'mcp',
    'let a client of the Model Context Protocol ask the team, over standard input and output',
  ).action(run(() => import('./serve/mcp.js'), 'mcp'));

  add('codec-server', "let Temporal's page and command line show what is encrypted, until Ctrl-C")
    .requiredOption('--origin <url...>', 'pages that may ask, e.g. http://127.0.0.1:8233', read.origins)
    .option('--port <number>', 'port to listen on', read.port, 8081)
    .option('--host <address>', 'other machines need the token in CONDUCTOR_CODEC_TOKEN', '127.0.0.1')
    .action(run(() => import('./serve/codec-server.js'), 'codecServer'));

  add('eval', 'try methods on questions with known answers, and compare their scores and costs')
    .argument('[file]', 'questions, in a format that data inspect knows')
    .option('--from-traces', 'have the best single worker answer questions of the log, and compare the cost')
    .option('--judge', 'with --from-traces: have the verifier compare answers if no right one is known')
    .option('--methods <names>', METHODS_HELP, read.names)
    .option('--allow <ids>', 'use these workers only, e.g. gpt,sonnet', read.ids)
    .option('--deny <ids>', 'do not use these workers', read.ids)
    .option('--sample <number>', 'number of questions to draw at random', read.count)
    .option('--seed <number>', 'seed of all draws, also sent to models', read.whole, 1)
    .addOption(grader)
    .option('--repeats <number>', 'tries of each question by each method', read.countTo(64))
    .option('--primary <method>', 'the comparison that counts, named before the run: its p is not adjusted')
    .addOption(failIf)
    .option('--window <number>', 'questions that are under way at once', read.countTo(64), 8)
    .option('--max-cost <usd>', 'budget of the evaluation; none: no limit', read.usd)
    .option('--out <folder>', 'for the report, every verdict and pictures (default: named by its id)')
    .option('--inspect', 'also write logs that "inspect view" of Inspect opens')
    .option('--learn-from <id>', 'an earlier evaluation of single workers, for the method learned-router')
    .option('--resume <id>', 'go on with an evaluation, or show what it found')
    .option('--compare <ids...>', 'show what changed from one evaluation to another; calls no model')
    .option('--json', 'print what was found as JSON')
    .addOption(detach)
    .action(run(() => import('./evaluate/evaluate.js'), 'evaluate'));

  addTrainCommands(program.command('train').description('train a Conductor of your own'));

  addOffline('init', 'write a conductor.yaml from the keys and servers of this machine').action(
    run(pools, 'init'),
  );

  add('doctor', 'check what is installed, reachable and allowed, and say how to fix what is not').action(
    run(() => import('./setup/doctor.js'), 'doctor'),
  );

  add('tools', 'show what the servers of tools offer, and whether it has changed since it was first used')
    .option(
      '--accept <name>',
      'use what has changed: an entry, or one of its tools, e.g. github.search_issues',
    )
    .action(run(() => import('./setup/tools.js'), 'showTools'));

  const pool = addersTo(program.command('pool').description('look after the pool'));
  pool
    .add('check', 'make one tiny call to each Conductor, worker and baseline')
    .action(run(pools, 'checkPool'));

  const data = program.command('data').description('inspect and split files of questions');
  data
    .command('inspect <file>')
    .description('say what is in JSON lines (also gzipped), Parquet or CSV, and which rows are bad')
    .addOption(grader)
    .addOption(prompts)
    .option('--against <file>', 'file whose questions must not recur, e.g. the held-out set')
    .option(...JSON_OPTION)
    .action(run(dataSets, 'inspect'));
  data
    .command('split <file...>')
    .description('draw balanced parts, none of which repeats a question of another, for training and judging')
    .requiredOption('--part <name=count>', 'e.g. --part train=960 --part held-out=100', read.parts)
    .requiredOption('--out <folder>', 'for <name>.jsonl of each part')
    .option('--seed <number>', 'seed of the draw', read.whole, 42)
    .addOption(grader)
    .addOption(prompts)
    .option('--since <date>', 'first day, of questions that have a date, e.g. 2026-01-31', read.date)
    .option('--until <date>', 'the last day', read.date)
    .action(run(dataSets, 'split'));

  const store = addersTo(program.command('store').description('look after the store'));
  store
    .add('migrate', "make a PostgreSQL store's tables, or bring them to this version")
    .action(run(stores, 'migrate'));

  store
    .add('gc', 'remove old texts and answers that no run or record needs')
    .requiredOption('--older-than <days>', 'what is younger stays, e.g. 30d', read.days)
    .option('--dry-run', 'say what would be removed, and remove nothing')
    .action(run(stores, 'collect'));

  const key = addersTo(
    program.command('key').description('say who may use the gateway, and see who did what'),
  );
  key
    .add('create', 'make a key, and print its secret, which is shown only once')
    .argument('<name>', "name of the key's user", read.name)
    .option('--models <names>', 'it may use only these, e.g. conductor,worker/*', read.models)
    .option('--usd-per-day <usd>', 'it may spend this much per day (UTC); none: no limit', read.usd)
    .option('--requests-per-minute <number>', 'it may send this many', read.countTo(60_000))
    .option('--expires <when>', 'after some days, or a last day (UTC), e.g. 90d or 2030-12-31', read.expiry)
    .option('--admin', 'it may do what affects everyone, such as promoting a checkpoint')
    .option(...JSON_OPTION)
    .action(run(keys, 'create'));
  key
    .add('list', 'show all keys, and what each has spent and holds today')
    .option('--json', 'print them as JSON')
    .action(run(keys, 'printKeys'));
  key
    .add('revoke <name>', 'refuse a key, by its name or id, from now on and for good')
    .action(run(keys, 'revoke'));
  key
    .add('log', 'print who started, steered and changed what')
    .option('--since <date>', 'first day (UTC), e.g. 2026-11-01 (default: 30 days ago)', read.date)
    .option('--json', 'print the entries as JSON')
    .action(run(keys, 'log'));

  return program;
}

function chooseLogForm(_: Command, called: Command): void {
  const { logFormat } = called.opts<{ readonly logFormat?: LogForm }>();
  if (logFormat !== undefined) sayAs(logFormat);
}

/** @throws UsageError if the current folder is not where its name leads: files would be sought and made elsewhere */
function checkFolder(): void {
  const named = process.cwd();
  const [here, there] = [statSync('.'), statSync(named, { throwIfNoEntry: false })];
  if (here.ino === there?.ino && here.dev === there.dev) return;
  throw new UsageError(
    `the name of the current folder, ${JSON.stringify(named)}, leads to another one or nowhere: it is not UTF-8, ` +
      'or the folder was moved or covered; rename it, or go to another one',
  );
}

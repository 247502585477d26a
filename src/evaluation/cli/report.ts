import { TOPOLOGIES } from '../../plan/topology';
import { counted, describeUsd } from '../../trace/describe';
import { FAILURES } from '../failure-kinds';
import type { Learned } from '../results';
import { MOST_ATTEMPTS } from '../methods/samples';
import type { Picture } from '../report/page';
import type { Report, Table } from '../report/report';
import type { MethodSummary, Summary } from '../summarize';
import { findingsOfLog } from './report-of-log';
import { compareSentence, tableOf } from './table';

/** The results in sentences. */
export function findingsOf(summary: Summary): string[] {
  const { complete, questions, methods, reference, againstBestWorker, usd, lost, learned } = summary;
  const ungraded = methods.reduce((sum, method) => sum + method.ungraded, 0);
  const unknown = (summary.log ? summary.questions - summary.log.known : 0) * methods.length;
  return [
    `${counted(complete, 'question')} of ${questions}, seed ${summary.seed}, ` +
      (usd === null ? 'cost unknown, since a price is.' : `${describeUsd(usd)} in all.`),
    ...findingsOfLog(summary),
    ...(againstBestWorker === null
      ? []
      : [compareSentence(reference, againstBestWorker, ', the best worker alone on these questions')]),
    ...methods.flatMap((method) => (method.capped === 0 ? [] : [describeCapped(method, summary)])),
    ...(learned === undefined ? [] : [describeLearned(learned)]),
    ...(lost === 0
      ? []
      : [`${counted(lost, 'call')} were lost in crashes or time-outs: what they cost is not in it.`]),
    ...(ungraded <= unknown
      ? []
      : [
          `${counted(ungraded - unknown, 'answer')} could not be judged, and count neither way: see results.jsonl.`,
        ]),
  ];
}

function describeCapped({ method, capped, usd }: MethodSummary, { methods, reference }: Summary): string {
  const other = methods.find((each) => each.method === reference)?.usd ?? null;
  const cost =
    usd === null || other === null
      ? ''
      : `: it cost ${describeUsd(usd)} a question, and ${reference} ${describeUsd(other)}`;
  return (
    `${method} is not at equal cost on ${counted(capped, 'question')}, where it stopped at ${MOST_ATTEMPTS} attempts, ` +
    `the most it makes${cost}.`
  );
}

function describeLearned({ from, questions, answers, repeated, nanoUsd }: Learned): string {
  const cost = nanoUsd === null ? 'at a cost that is unknown' : `for ${describeUsd(nanoUsd / 1e9)}`;
  const left =
    repeated === 0 ? '' : ` ${counted(repeated, 'question')} of it are asked here, and were left out.`;
  return (
    `learned-router learned from ${counted(answers, 'answer')} to ${counted(questions, 'question')} of evaluation ${from}, ` +
    `made ${cost}, which is not in its USD.${left}`
  );
}

const describeColumns = (reference: string): string =>
  'Score: right answers of those that could be judged, with Wilson’s interval. Difference: from the ' +
  `score of ${reference}, question by question, with p of McNemar’s exact test; what could be found is the smallest ` +
  'difference that so many questions show four times out of five. USD, tokens, calls: means per question, the ' +
  'Conductor’s own calls included. Latency: median and 95th percentile of a question, waits included.';

/** Plans and failures of the methods that have any. */
function plansAndFailures({ methods }: Summary): Table[] {
  const describe = (counts: Readonly<Record<string, number>>, names: readonly string[]): string =>
    names.flatMap((name) => (counts[name] === undefined ? [] : `${name} ${counts[name]}`)).join(', ');
  const rows = methods.map(({ method, topologies, failures }) => [
    method,
    describe(topologies, TOPOLOGIES),
    describe(failures, FAILURES),
  ]);
  const told = rows.filter(([, plans, failures]) => plans !== '' || failures !== '');
  const head = ['method', 'plans, by their graph', 'wrong answers, by what went wrong'];
  return told.length === 0 ? [] : [{ rows: [head, ...told], numeric: false }];
}

export function reportOf(summary: Summary, pictures: readonly Picture[]): Report {
  return {
    title: `Evaluation ${summary.id}`,
    parts: [
      `Questions: ${summary.file}. Workers: ${summary.workers.join(', ')}.`,
      ...findingsOf(summary),
      { rows: tableOf(summary), numeric: true },
      describeColumns(summary.reference),
      ...plansAndFailures(summary),
      ...pictures,
      'Every verdict, with the ids of its runs for "temporal-conductor trace", is a line of "results.jsonl".',
    ],
  };
}

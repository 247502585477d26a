import { counted, describeUsd } from '../../trace/describe';
import type { MethodSummary, Preferences, Summary } from '../summarize';
import { compareSentence, describeChance, seconds } from './table';

/** Says what a single model would have cost and found on questions of the log, a sentence each; nothing for a file's. */
export function findingsOfLog(summary: Summary): string[] {
  const { log, methods, reference, questions } = summary;
  const logged = methods.find(({ method }) => method === reference);
  if (log === undefined || logged === undefined) return [];
  const others = methods.filter((method) => method !== logged);
  return [
    `They were drawn from ${counted(log.answered, 'solve')} of the log that have an answer` +
      (log.unanswered === 0
        ? '.'
        : `; ${log.unanswered} ended without one and cannot be drawn, which flatters the Conductor.`),
    'Answers and costs of the Conductor are those of the log, whatever was configured then; the others are of today.',
    ...others.flatMap((other) => [
      ...compareCosts(logged, other),
      ...compareQuality(logged, other, questions - log.known),
    ]),
  ];
}

function compareCosts(logged: MethodSummary, { method, costGain, ...other }: MethodSummary): string[] {
  const [usd, others] = [logged.usd, other.usd];
  const factor = usd !== null && others !== null && others > 0 ? usd / others : null;
  const cost =
    usd === null || others === null || costGain === null
      ? 'what both cost cannot be compared, since a price is unknown'
      : `${describeUsd(others)} a question instead of ${describeUsd(usd)}: the Conductor cost ` +
        `${describeGain(-costGain.usd)} (with 95 % confidence ${describeBounds(costGain.interval)})` +
        (factor === null ? '' : `, ${factor.toFixed(1)} times as much`);
  const count = (tokens: number): string => Math.round(tokens).toLocaleString('en-US');
  return [
    `${method} would have cost: ${cost}.`,
    `${method} took ${count(other.tokens)} tokens, ${other.calls.toFixed(1)} calls and ` +
      `${seconds(other.latencyMs.median)} in the median, the Conductor ${count(logged.tokens)} tokens, ` +
      `${logged.calls.toFixed(1)} calls and ${seconds(logged.latencyMs.median)}, waits included.`,
  ];
}

function describeGain(usd: number): string {
  return `${describeUsd(Math.abs(usd))} ${usd < 0 ? 'less' : 'more'}`;
}

function describeBounds([low, high]: readonly [number, number]): string {
  const [least, most] = [-high, -low];
  return least === most ? 'just that' : `between ${describeGain(least)} and ${describeGain(most)}`;
}

function compareQuality(
  logged: MethodSummary,
  { method, comparison, preferences }: MethodSummary,
  open: number,
): string[] {
  return [
    ...(comparison === null
      ? []
      : [
          `Where the right answer is known: ${compareSentence(method, comparison, `, ${counted(comparison.pairs, 'question')}`)}`,
        ]),
    ...(preferences === null ? [] : [describePreferences(logged.method, method, preferences)]),
    ...(open === 0 || preferences !== null
      ? []
      : [
          `Quality was not judged on ${counted(open, 'question')}: their right answers are not known, and no judge was ` +
            'asked. Name a file of questions that has them, or have the verifier compare the answers with --judge.',
        ]),
  ];
}

function describePreferences(reference: string, method: string, preferences: Preferences): string {
  const { won, lost, tied, unjudged, p } = preferences;
  return (
    `Where it is not, the verifier, asked in both orders, preferred the answer of ${reference} ${times(lost)}, that of ` +
    `${method} ${times(won)}, and neither ${times(tied)}: p ${describeChance(p)} by the sign test` +
    `${p < 0.05 ? '' : ', so it may be chance'}. It is a model's opinion, not a verdict.` +
    (unjudged === 0 ? '' : ` ${counted(unjudged, 'pair')} could not be compared: see results.jsonl.`)
  );
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

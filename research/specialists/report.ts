import { randomFrom } from '../../src/statistics/chance';
import { type Curve, curvesChart, type Panel } from '../../src/report/curves-chart';
import { colourOf, drawCharts, GREY, percent } from '../../src/report/chart';
import type { Report, Table } from '../../src/report/report';
import { meanOf } from '../../src/statistics/statistics';
import { counted } from '../../src/trace/describe';
import { mean } from '../plain/scoring';
import type { Scores } from './scores';
import { type Baselines, CONSTANT, ORACLE } from './baselines';
import { type Ability, abilityTable } from './matrix';
import { type Lesson, LESSONS } from './learn';
import { SET_NAMES, type SetName } from './questions';
import { AS_LEARNED, type LearnedSeed } from './seed';

/** Reports what a folder's workers can do. */
export function reportWorkers(abilities: readonly Ability[]): Report {
  return { title: TITLE, parts: abilityParts(abilities) };
}

function abilityParts(abilities: readonly Ability[]): Report['parts'] {
  return [
    'How often workers do a skill rightly, asked in plain words / in fancy ones:',
    abilityTable(abilities),
  ];
}

/** Reports the results of a folder's seeds beside the baselines. */
export async function reportSeeds(
  abilities: readonly Ability[],
  baselines: Baselines,
  seeds: ReadonlyMap<string, LearnedSeed>,
): Promise<Report> {
  const learned = [...seeds].filter(([, { lesson }]) => lesson === 'verdicts');
  const parts = [
    ...abilityParts(abilities),
    'Share of right answers to held-out questions:',
    accuracyTable(baselines, seeds),
    ...judge(baselines, seeds),
  ];
  if (learned.length === 0) return { title: TITLE, parts };
  const [, first] = learned[0] ?? [];
  return {
    title: TITLE,
    parts: [
      ...parts,
      ...(await drawCharts([curvesChart(curvesOf(baselines, seeds))])),
      ...(first?.shown ?? []).flatMap(({ question, plans }, index) => [
        `${index === 0 ? 'Before' : 'After'}: “${question}”`,
        { quote: plans.join('\n') },
      ]),
    ],
  };
}

const TITLE = 'Specialists: a Conductor over workers that learned a skill or two each';

type Row = readonly [name: string, seeds: readonly Scores[]];

function accuracyTable(baselines: Baselines, seeds: ReadonlyMap<string, LearnedSeed>): Table {
  const each = [...seeds].map(([name, { learned }]): Row => [
    name,
    learned[AS_LEARNED] ? [learned[AS_LEARNED]] : [],
  ]);
  const rows: readonly Row[] = [
    ...Object.entries(baselines).map(([name, scores]): Row => [name, [scores]]),
    ['warm start alone', taught(seeds, 'verdicts').map(({ warm }) => warm)],
    ...['generic', 'silent', 'permuted'].map((change): Row => [
      `learned, ${change}`,
      taught(seeds, 'verdicts').flatMap(({ learned }) => learned[change] ?? []),
    ]),
    ...each,
  ];
  return {
    rows: [
      ['', ...SET_NAMES],
      ...rows
        .filter(([, all]) => all.length > 0)
        .map(([name, all]) => [
          name,
          ...SET_NAMES.map((set) => mean(all.map((scores) => mean(scores[set]))).toFixed(3)),
        ]),
    ],
    numeric: true,
  };
}

function taught(seeds: ReadonlyMap<string, LearnedSeed>, by: Lesson): LearnedSeed[] {
  return [...seeds.values()].filter(({ lesson }) => lesson === by);
}

const JUDGED: SetName = 'held-out pairs';
const LEAST_SHARE = 0.8;
const LEAST_LOSS = 0.2;
const JUDGEMENTS = new Map([
  [true, 'Holds'],
  [false, 'Does not hold'],
  [null, 'Not known yet'],
]);

/** Checks the criterion, which was fixed before the seeds that it applies to: see docs/results/specialists.md. */
function judge(baselines: Baselines, seeds: ReadonlyMap<string, LearnedSeed>): string[] {
  const learned = taught(seeds, 'verdicts');
  if (learned.length === 0) return [];
  const of = (all: readonly LearnedSeed[], change: string): (readonly number[])[] =>
    all.flatMap(({ learned }) => [learned[change]?.[JUDGED] ?? []]);
  const accuracy = mean(of(learned, AS_LEARNED).map(mean));
  const [low, high] = intervalOf(of(learned, AS_LEARNED));
  const oracle = mean(baselines[ORACLE]?.[JUDGED] ?? []);
  const constant = mean(baselines[CONSTANT]?.[JUDGED] ?? []);
  const shuffled = mean(of(taught(seeds, 'shuffled'), AS_LEARNED).map(mean));
  const losses = ['generic', 'silent'].map((change) => accuracy - mean(of(learned, change).map(mean)));
  const holds: readonly (readonly [string, boolean | null])[] = [
    [
      `${show(accuracy)} is at least ${LEAST_SHARE} of the oracle's ${show(oracle)}`,
      accuracy >= LEAST_SHARE * oracle,
    ],
    [`the lower bound is above the best constant plan (${show(constant)})`, low > constant],
    [`it is above shuffled verdicts (${show(shuffled)})`, Number.isNaN(shuffled) ? null : low > shuffled],
    [`generic subtasks lose more than ${LEAST_LOSS} (${show(losses[0])})`, (losses[0] ?? 0) > LEAST_LOSS],
    [`silent steps lose more than ${LEAST_LOSS} (${show(losses[1])})`, (losses[1] ?? 0) > LEAST_LOSS],
  ];
  return [
    `On ${JUDGED}, the mean of ${counted(learned.length, 'seed')} is ${show(accuracy)} (95 % interval ${show(low)} to ${show(high)}, by seeds and questions).`,
    ...holds.map(([what, isTrue]) => `${JUDGEMENTS.get(isTrue)}: ${what}.`),
  ];
}

function show(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? 'not measured' : value.toFixed(3);
}

const DRAWS = 2000;

/** Returns the 95 % bootstrap interval of the seeds' mean, resampling seeds and the questions within each. */
export function intervalOf(seeds: readonly (readonly number[])[]): readonly [number, number] {
  const random = randomFrom('bootstrap');
  const drawn = <Item>(items: readonly Item[]): Item[] =>
    items.flatMap(() => items[Math.floor(random() * items.length)] ?? []);
  const means = Array.from({ length: DRAWS }, () =>
    mean(seeds.map(() => mean(drawn(seeds[Math.floor(random() * seeds.length)] ?? [])))),
  ).sort((one, other) => one - other);
  return [means[Math.floor(0.025 * DRAWS)] ?? NaN, means[Math.ceil(0.975 * DRAWS) - 1] ?? NaN];
}

const NAMES: Readonly<Record<Lesson, string>> = {
  verdicts: 'mean of seeds',
  shuffled: 'shuffled',
  none: 'no verdicts',
};

/** Pairs, which no worker and no constant plan can solve. */
const DRAWN: readonly SetName[] = ['trained pairs', 'held-out pairs'];

/** Returns the curves of all seeds and their means, controls in other colours, and the baselines as lines. */
function curvesOf(
  baselines: Baselines,
  seeds: ReadonlyMap<string, LearnedSeed>,
): Parameters<typeof curvesChart>[0] {
  const [first] = taught(seeds, 'verdicts');
  const cycles = first?.curve.map(({ cycle }) => cycle) ?? [];
  const panels = DRAWN.map((set): Panel => {
    const level = (name: string, baseline: string) => ({
      name,
      colour: GREY,
      values: cycles.map(() => mean(baselines[baseline]?.[set] ?? [])),
    });
    const curves = LESSONS.flatMap((lesson, place): Curve[] => {
      const all = taught(seeds, lesson).map(({ curve }) =>
        cycles.map((_, index) => curve[index]?.accuracy[set] ?? null),
      );
      const means = cycles.map((_, index) => meanOf(all.flatMap((values) => values[index] ?? [])));
      const colour = colourOf(place);
      return [
        ...all.map((values) => ({ name: '', colour: `${colour}55`, values })),
        { name: NAMES[lesson], colour, values: means },
      ];
    });
    return {
      title: set,
      note: 'right answers by the likeliest plans, after so many cycles',
      form: 'lines',
      curves: [level('oracle', ORACLE), ...curves, level('constant plan', CONSTANT)],
      format: percent,
    };
  });
  const heading = {
    title: TITLE,
    subtitle: 'held-out questions; grey: the best plan of each composition, and the best of all for a set',
  };
  return { ...heading, file: 'specialists', cycles, nightStarts: [], panels };
}

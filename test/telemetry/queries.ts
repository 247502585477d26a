import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const DEPLOY = join(__dirname, '..', '..', 'deploy');

const boardSchema = z.object({
  panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).optional() })),
});
const rulesSchema = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string(), expr: z.string() })) })),
});

/** Returns the queries of the dashboard and of the alerts. */
export function readQueries(): { readonly dashboard: string[]; readonly alerts: string[] } {
  const board = boardSchema.parse(JSON.parse(readFileSync(join(DEPLOY, 'grafana.json'), 'utf8')));
  const rules = rulesSchema.parse(parse(readFileSync(join(DEPLOY, 'alerts.yaml'), 'utf8')));
  return {
    dashboard: board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    alerts: rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
  };
}

/** Metric that a query asks for, as a scrape names it, and the labels by which it chooses and groups. */
export interface Asked {
  readonly family: string;
  readonly labels: readonly string[];
}

/** Returns what a query asks for; all that it groups by must be a label of each of its metrics. */
export function askedBy(query: string): Asked[] {
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/));
  return [...query.matchAll(/\b((?:conductor|temporal)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', chosen = '']) => ({
      family: name.replace(/_(?:bucket|sum|count)$/, ''),
      labels: [...grouped, ...[...chosen.matchAll(/(\w+)\s*[=!]/g)].map(([, label = '']) => label)].filter(
        (label) => label !== 'le',
      ),
    }),
  );
}

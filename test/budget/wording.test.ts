import { readFileSync } from 'node:fs';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { conductorPromptBytes, estimatePlan, workerPromptBytes } from '../../src/budget/worst-case';
import { modelCard, runOf } from './cards';

test('no sentence of a prompt is in the sandbox, where its length could decide what a run begins', () => {
  const bundle = readFileSync(process.env.TEST_WORKFLOW_BUNDLE ?? '', 'utf8');
  for (const sentence of ['You are one member of a team', 'You direct a team', 'Reply with']) {
    expect(bundle).not.toContain(sentence);
  }
});

describe('a run is reckoned by the version that it was resolved with', () => {
  const request = { question: 'Why?', repairs: [] };
  const run = runOf([modelCard('w')]);

  test('which a new run has', () => {
    const model = { provider: 'local', model: 'm' } as const;
    expect(resolveRun(parseConfig({ conductor: model, workers: [{ id: 'w', ...model }] })).estimator).toBe(1);
  });

  test('and version 1 reckons as it ever did', () => {
    expect(conductorPromptBytes(request, run)).toBe(4_647);
    expect(conductorPromptBytes(request, { ...run, estimator: 1 })).toBe(4_647);
  });

  test('and a version to come is left to the workers that know it', () => {
    const later = { ...run, estimator: 2 };
    const step = { question: 'Why?', subtask: 'Say', sees: [], worker: modelCard('w') };
    const sentence = /^the run is reckoned by estimator 2, and this process knows 1: .* newer version/;
    expect(() => conductorPromptBytes(request, later)).toThrow(sentence);
    expect(() => workerPromptBytes(step, later)).toThrow(sentence);
    expect(() =>
      estimatePlan({ steps: [{ subtask: 'Say', sees: [], worker: 'w' }] }, later, { question: 'Why?' }),
    ).toThrow(sentence);
  });
});

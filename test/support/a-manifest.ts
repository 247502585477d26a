import type { CheckpointManifest } from '../../src/training/policy/serving';

/** Returns the manifest of a made-up checkpoint, with a test's changes. */
export function aManifest(change: Partial<CheckpointManifest> = {}): CheckpointManifest {
  return {
    schema: 1,
    trainRun: 'nightly',
    name: '000001',
    model: 'nightly-000001',
    folder: 'nightly/000001/model',
    kind: 'model',
    weightsSha256: 'a'.repeat(64),
    tokenizerSha256: 'b'.repeat(64),
    vocabulary: 400,
    prompt: 'compact',
    chat: 'chatml',
    describe: 'ordinals',
    access: 'binary',
    subtasks: true,
    examples: [],
    maxSteps: 3,
    trainedAtTemperature: 1,
    temperature: 0.2,
    maxPromptTokens: 4000,
    maxOutputTokens: 100,
    servers: ['http://127.0.0.1:9/v1'],
    createdAt: '2026-11-21T03:30:00.000Z',
    ...change,
  };
}

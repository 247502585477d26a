// What may import what. "Pure" folders hold no side effects and may be loaded by workflows and Node alike.
const pure = '^src/((plan|protocol|trace|budget|grading)/|training/(?!index|plugin)[^/]+\\.ts$)';

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-stay-in-the-sandbox',
      comment: 'Workflow code runs in a deterministic sandbox: pure code and the workflow SDK only.',
      severity: 'error',
      from: { path: '^src/(training/)?workflows/' },
      to: {
        dependencyTypesNot: ['type-only'],
        pathNot: [pure, '^src/(training/)?workflows/', '(^|/)node_modules/@temporalio/(workflow|common)/'],
      },
    },
    {
      name: 'pure-code-stays-pure',
      severity: 'error',
      from: { path: pure },
      to: {
        dependencyTypesNot: ['type-only'],
        pathNot: [pure, '(^|/)node_modules/(zod|@temporalio/common)/'],
      },
    },
    {
      name: 'one-file-per-provider-sdk',
      comment: "A vendor's SDK is imported in that vendor's file only.",
      severity: 'error',
      from: {
        pathNot: [
          '^src/activities/models/(openai|anthropic|google|local-engine)\\.ts$',
          '^src/store/s3-store\\.ts$',
        ],
      },
      to: {
        dependencyTypesNot: ['type-only'],
        path: '(^|/)node_modules/(openai|@anthropic-ai/sdk|@google/genai|node-llama-cpp|@aws-sdk/client-s3)/',
      },
    },
    {
      name: 'activities-know-no-workflow-code',
      severity: 'error',
      from: { path: '^src/(training/)?(activities|store|config|encryption)/' },
      to: {
        dependencyTypesNot: ['type-only'],
        path: '^src/(training/)?(workflows|cli|testing|local|index|plugin)',
      },
    },
    {
      name: 'testing-is-never-a-default',
      comment: 'Simulated providers are for tests: no product code may reach them.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: { path: '^src/testing/' },
    },
    {
      name: 'only-the-doors-compose',
      severity: 'error',
      from: { pathNot: ['^src/index\\.ts$', '^src/local/', '^src/cli/'] },
      to: { path: '^src/plugin\\.ts$' },
    },
    { name: 'nobody-imports-the-door', severity: 'error', from: {}, to: { path: '^src/index\\.ts$' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { conditionNames: ['require', 'node', 'types'] },
  },
};

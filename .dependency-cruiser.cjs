// What may import what.

/** Holds no side effects, and may be loaded by workflows and Node alike. */
const pure =
  '^src/(errors\\.ts$|(plan|protocol|trace|budget|statistics)/|telemetry/(metrics|names)\\.ts$|grading/(?!index|grade\\.ts|same-answer|sandbox/|code/(grade-|python-)|mathematics/(engine|math-verify|grade-))|evaluation/(methods/|(?!index|plugin)[^/]+\\.ts$)|training/(?!index|plugin|artifacts|curves)[^/]+\\.ts$|nexus/names\\.ts$)';

/**
 * The floors of the house, lowest first: the core, evaluation with grading, training, the gateway, the command line. An
 * arrow goes down or stays on its floor, even if only types cross.
 */
const floors = [
  ['errors, this process, the network', '(network/|runtime/|errors\\.ts$)'],
  ['the plan language', 'plan/'],
  ['what crosses the wire', 'protocol/'],
  ['traces', 'trace/'],
  ['metrics and spans', 'telemetry/'],
  ['budgets', 'budget/'],
  ['configuration, encryption', '(config|encryption)/'],
  ['the store', 'store/'],
  ['workflows, activities, clients', '(workflows|activities|client)/'],
  ['this machine', 'local/'],
  ['workers', '(worker/|plugin\\.ts$|index\\.ts$)'],
  ['statistics, reports', '(statistics|report)/'],
  ['grading', 'grading/'],
  ['evaluation', 'evaluation/'],
  ['training', 'training/'],
  ['the gateway', 'gateway/'],
  ['Nexus', 'nexus/'],
  ['the command line', 'cli/'],
];

/** Files through which an area is entered, for types too. `index.ts` of a package entry is for users alone. */
const doors = {
  activities: ['index', 'as-failure', 'check-arguments', 'keep-input', 'models/index'],
  cli: [],
  client: ['index'],
  evaluation: [
    'definitions',
    'plugin',
    'activities/index',
    'data/index',
    'report/index',
    'workflows/index',
    'workflows/parts',
  ],
  gateway: ['server', 'codec-server', 'access/index', 'mcp/team-server'],
  grading: ['grade', 'question', 'readers', 'verdict'],
  training: ['definitions', 'names', 'plugin', 'client/index', 'config/index'],
  worker: ['worker-plugin'],
  workflows: ['index', 'parts'],
};

const throughDoors = Object.entries(doors).map(([area, files]) => ({
  name: `only-through-doors: ${area}`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${area}/` },
  to: { path: `^src/${area}/`, pathNot: files.map((file) => `^src/${area}/${file}\\.ts$`) },
}));

const pathOf = (some) => `^src/(${some.map(([, path]) => path).join('|')})`;

const downwards = floors.slice(0, -1).map((floor, index) => ({
  name: `no-arrow-up-from: ${floor[0]}`,
  severity: 'error',
  from: { path: pathOf([floor]) },
  to: { path: pathOf(floors.slice(index + 1)) },
}));

module.exports = {
  forbidden: [
    { name: 'no-cycles', comment: 'Of types neither.', severity: 'error', from: {}, to: { circular: true } },
    ...downwards,
    {
      name: 'no-file-without-a-floor',
      severity: 'error',
      from: { path: '^src/', pathNot: [pathOf(floors), '^src/testing/'] },
      to: {},
    },
    {
      name: 'workflows-stay-in-the-sandbox',
      comment: 'Workflow code runs in a deterministic sandbox: pure code and the workflow SDK only.',
      severity: 'error',
      from: { path: '^src/((training|evaluation|nexus)/)?workflows/' },
      to: {
        dependencyTypesNot: ['type-only'],
        pathNot: [
          pure,
          '^src/((training|evaluation|nexus)/)?workflows/',
          '(^|/)node_modules/@temporalio/(workflow|common)/',
        ],
      },
    },
    {
      name: 'wording-decides-no-command',
      comment:
        'The length of a sentence must not decide what a run in flight begins: see docs/versioning.md.',
      severity: 'error',
      from: { path: '^src/(budget|trace|protocol|((training|evaluation)/)?workflows)/' },
      to: { path: '^src/plan/prompt/' },
    },
    {
      name: 'pure-code-stays-pure',
      severity: 'error',
      from: { path: pure },
      to: {
        dependencyTypesNot: ['type-only'],
        pathNot: [pure, '(^|/)node_modules/(zod|string-width|@temporalio/common)/'],
      },
    },
    {
      name: 'one-file-per-provider-sdk',
      comment: "A vendor's SDK is imported in that vendor's file only.",
      severity: 'error',
      from: {
        pathNot: [
          '^src/activities/models/(openai|anthropic|google|local)\\.ts$',
          '^src/store/(s3-store|sqlite-store|postgres-store)\\.ts$',
          '^src/activities/tools/connections\\.ts$',
          '^src/gateway/mcp/team-server\\.ts$',
          '^src/telemetry/spans\\.ts$',
          '^src/cli/kit/export-spans\\.ts$',
        ],
      },
      to: {
        dependencyTypesNot: ['type-only'],
        path: '(^|/)node_modules/(openai|@anthropic-ai/sdk|@google/genai|@modelcontextprotocol/(?:client|server)|@opentelemetry/(?:api|sdk-node)|node-llama-cpp|@aws-sdk/client-s3|libsql|pg)/',
      },
    },
    {
      name: 'activities-know-no-workflow-code',
      severity: 'error',
      from: { path: '^src/((training|evaluation)/)?(activities|client)/' },
      to: { dependencyTypesNot: ['type-only'], path: '^src/((training|evaluation|nexus)/)?workflows/' },
    },
    {
      name: 'one-file-starts-programs',
      comment:
        'A folder made by a stranger holds programs and Python modules: see src/runtime/start-program.ts.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/runtime/start-program\\.ts$' },
      to: { dependencyTypesNot: ['type-only'], path: '^(node:)?child_process$' },
    },
    {
      name: 'mathematics-in-a-thread-alone',
      comment: 'compute-engine may never come back: it is loaded in a thread that can be ended.',
      severity: 'error',
      from: { pathNot: '^src/grading/mathematics/engine-thread\\.cjs$' },
      to: { path: '(^|/)node_modules/@cortex-js/' },
    },
    {
      name: 'schemas-in-a-thread-alone',
      comment:
        "A caller's schema may never come back: it is compiled and applied in a thread that can be ended.",
      severity: 'error',
      from: { pathNot: '^src/activities/schema-thread\\.cjs$' },
      to: { path: '(^|/)node_modules/ajv/' },
    },
    {
      name: 'testing-is-never-a-default',
      comment: 'Simulated providers are for tests: no product code may reach them.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/testing/' },
      to: { path: '^src/testing/' },
    },
    ...throughDoors,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { conditionNames: ['require', 'node', 'types'] },
  },
};

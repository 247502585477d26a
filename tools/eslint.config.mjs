import { fileURLToPath } from 'node:url';
import { getStaticValue } from '@eslint-community/eslint-utils';
import js from '@eslint/js';
import redos from 'eslint-plugin-redos';
import * as regexp from 'eslint-plugin-regexp';
import reactHooks from 'eslint-plugin-react-hooks';
import { checkSync } from 'recheck';
import tseslint from 'typescript-eslint';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Time to check a pattern, ample on a busy machine: one that is not done by then counts as vulnerable. */
const timeout = 10 * 60_000;

/** `redos/no-vulnerable` for patterns that are put together, which must be of constants alone: it reads literals. */
const noVulnerableParts = {
  create: (context) => ({
    'NewExpression[callee.name="RegExp"], CallExpression[callee.name="RegExp"]'(node) {
      const scope = context.sourceCode.getScope(node);
      const [source, flags] = node.arguments.map((argument) => getStaticValue(argument, scope)?.value);
      if (typeof source !== 'string') {
        context.report({ node, message: 'Put a pattern together of constants, so that it can be checked.' });
      } else if (checkSync(source, flags ?? '', { timeout }).status !== 'safe') {
        context.report({ node, message: `/${source}/ may need more than linear time.` });
      }
    },
  }),
};

const namesPrivateByHash = {
  selector: 'PrivateIdentifier',
  message: 'Write "private x", never "#x": one form is enough.',
};
const writesForeignText = {
  selector: 'CallExpression[callee.property.name="write"][callee.object.property.name=/^(stdout|stderr)$/]',
  message: 'Foreign text may steer a terminal: say or print it, see src/cli/kit/terminal.ts.',
};

/** This machine's clock may be hours off that of Temporal's server or of the store. In a workflow, it is the server's. */
const NOW = 'CallExpression[callee.object.name="Date"][callee.property.name="now"]';
const comparesClocks = [
  `BinaryExpression:has(${NOW}):has(Identifier[name=/(Time|[mM]odifiedAt)$/])`,
  `NewExpression[callee.name="Date"] > BinaryExpression[operator="-"] > ${NOW}`,
].map((selector) => ({
  selector,
  message: "Compare another machine's times with each other: see isPolled and timeAgo.",
}));
const readsServerTime = {
  selector:
    ':matches(MemberExpression[property.name=/TimestampMs$/], ObjectPattern > Property[key.name=/TimestampMs$/])',
  message: "These are times of Temporal's server: see serverNow and serverEnd.",
};

/** Refuses a decision from what a run is known to have cost, which is a lower bound: limits named `costUsd` are none. */
const noDecisionFromKnownCost = {
  create: ({ sourceCode, report }) => {
    const check = (node, owner) => {
      const type = sourceCode.parserServices.getTypeAtLocation(owner);
      if (type.getProperty('costIsLowerBound') === undefined) return;
      const message =
        'This cost is a lower bound: decide by mostSpent(), see src/trace/cost.ts. Only what shows it reads it.';
      report({ node, message });
    };
    return {
      'MemberExpression[property.name="costUsd"]': (node) => check(node, node.object),
      'ObjectPattern > Property[key.name="costUsd"]': (node) => check(node, node.parent),
    };
  },
};

export default tseslint.config(
  {
    ignores: [
      'lib/',
      'coverage/',
      'node_modules/',
      '**/.conductor/',
      'examples/**/workflow-bundle.js',
      'web/src/api/schema.d.ts',
    ],
  },
  js.configs.recommended,
  // What a function returns is said in a sentence, "Returns …".
  { rules: { 'no-warning-comments': ['error', { terms: ['@returns', '@return'], location: 'anywhere' }] } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: ROOT } },
    rules: {
      complexity: ['error', 10],
      'no-restricted-syntax': ['error', namesPrivateByHash],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/cli/kit/terminal.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        namesPrivateByHash,
        writesForeignText,
        ...comparesClocks,
        readsServerTime,
      ],
      'no-console': 'error',
    },
  },
  {
    files: ['src/activities/server-time.ts'],
    rules: { 'no-restricted-syntax': ['error', namesPrivateByHash, writesForeignText, ...comparesClocks] },
  },
  {
    files: ['src/**/workflows/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', namesPrivateByHash, writesForeignText] },
  },
  {
    files: ['src/**/*.ts'],
    // These show a cost with `costIsLowerBound`, or pass both on; `cost` has mostSpent().
    ignores: [
      'src/cli/solve/runs.ts',
      'src/client/{list-runs,solve-span}.ts',
      'src/gateway/solve/facts.ts',
      'src/trace/{cost,describe}.ts',
    ],
    plugins: { money: { rules: { 'no-decision-from-known-cost': noDecisionFromKnownCost } } },
    rules: { 'money/no-decision-from-known-cost': 'error' },
  },
  {
    files: ['web/src/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'error' },
  },
  {
    // Text of strangers meets these patterns, so that none may need more than linear time. The first two rules attack each;
    // the others read it. Patterns of tests meet texts of tests alone.
    files: ['**/*.{ts,tsx,js,cjs,mjs}'],
    ignores: ['test/**'],
    plugins: { redos, regexp },
    rules: {
      'redos/no-vulnerable': ['error', { ignoreErrors: false, timeout }],
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { own: { rules: { 'no-vulnerable-parts': noVulnerableParts } } },
    rules: { 'own/no-vulnerable-parts': 'error' },
  },
  {
    files: ['**/*.{js,cjs,mjs}'],
    languageOptions: {
      globals: {
        AbortController: 'readonly',
        Buffer: 'readonly',
        URL: 'readonly',
        console: 'readonly',
        exports: 'readonly',
        fetch: 'readonly',
        module: 'writable',
        performance: 'readonly',
        process: 'readonly',
        require: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        __dirname: 'readonly',
      },
    },
  },
);

import js from '@eslint/js';
import redos from 'eslint-plugin-redos';
import * as regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['lib/', 'coverage/', 'node_modules/', '**/.conductor/', 'examples/**/workflow-bundle.js'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      complexity: ['error', 10],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  {
    files: ['src/cli/**', 'src/training/cli/**'],
    ignores: ['src/cli/terminal.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression[callee.property.name="write"][callee.object.property.name=/^(stdout|stderr)$/]',
          message: 'Foreign text may steer a terminal: say or print it, see src/cli/terminal.ts.',
        },
      ],
      'no-console': 'error',
    },
  },
  {
    // Text of strangers meets these patterns, so that none may need more than linear time. The first rule attacks each
    // literal; the others also read what is put together of constants. Patterns of tests meet texts of tests alone.
    files: ['**/*.{ts,js,cjs,mjs}'],
    ignores: ['test/**'],
    plugins: { redos, regexp },
    rules: {
      'redos/no-vulnerable': ['error', { ignoreErrors: false, timeout: 30_000 }],
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
    },
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

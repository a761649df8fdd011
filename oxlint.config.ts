import { defineConfig } from 'oxlint'

export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'oxc', 'node'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  options: { typeAware: true },
  ignorePatterns: ['src/**/generated/**', 'dist/**'],
  rules: {
    'no-console': 'error',
    'no-await-in-loop': 'off', // Order is often the point.
    'oxc/no-map-spread': 'off', // A change is a new object.
    'unicorn/prefer-set-has': 'off', // Short lists are quicker to read as lists.
    'no-shadow': 'off',
    'no-underscore-dangle': 'off',
    'no-process-exit': 'error',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'import/no-unassigned-import': 'off',
    // "fs" would slip past the owners of "node:fs" in tools/layers.ts.
    'unicorn/prefer-node-protocol': 'error',
    'unicorn/no-array-sort': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/no-explicit-any': 'error',
    'typescript/no-unsafe-type-assertion': 'off',
    'typescript/no-unnecessary-type-arguments': 'off',
    'typescript/consistent-return': 'off',
  },
  overrides: [
    {
      files: ['src/**/*.ts'],
      // A page in a browser has no one to pass time in.
      excludeFiles: ['src/**/*.test.ts', 'src/base/async/**', 'src/*.ts', 'src/agent/**', 'src/page/client/**'],
      rules: {
        'no-restricted-globals': [
          'error',
          { name: 'setTimeout', message: 'Time is passed in: use Clock.' },
          { name: 'setInterval', message: 'Time is passed in: use Clock.' },
        ],
        'no-restricted-properties': [
          'error',
          { object: 'Date', property: 'now', message: 'Time is passed in: use Clock.' },
          { object: 'performance', property: 'now', message: 'Time is passed in: use Clock.' },
          { object: 'AbortSignal', property: 'timeout', message: 'Time is passed in: use Clock.' },
          { object: 'Math', property: 'random', message: 'Chance is passed in.' },
        ],
      },
    },
    {
      files: ['**/*.test.ts', 'test/**', 'tools/**'],
      rules: { 'typescript/no-floating-promises': 'off', 'no-console': 'off' },
    },
    {
      files: ['*.config.ts', 'src/main.ts', 'src/deckhand.ts', 'tools/**', 'test/**'],
      rules: { 'import/no-default-export': 'off', 'no-process-exit': 'off' },
    },
  ],
})

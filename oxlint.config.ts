import { defineConfig } from 'oxlint'
import { layers, owners } from './tools/layers.ts'

const folders = Object.keys(layers)

const dearHttp = {
  name: 'node:http',
  allowTypeImports: true,
  message: 'Take its values from src/builtin/http.ts, which says why.',
}

/** What one folder of src may not import: the folders and packages that the table does not give it. */
function restrictedImports(folder: string) {
  const allowed = new Set([folder, ...(layers[folder] ?? [])])
  const foreign = folders.filter((other) => !allowed.has(other))
  const owned = Object.keys(owners).filter((name) => !owners[name]?.includes(folder))
  return {
    paths: [
      ...owned.map((name) => ({
        name,
        message: `Only src/${owners[name]?.join(', src/')} may use it (tools/layers.ts).`,
      })),
      ...(owned.includes('node:http') ? [] : [dearHttp]),
    ],
    patterns: [
      ...foreign.map((other) => ({
        group: [`**/../${other}/**`, `**/${other}/**`],
        message: `src/${folder} may not import src/${other} (tools/layers.ts).`,
      })),
      { group: ['**/test/**'], message: 'Nothing in src imports test.' },
    ],
  }
}

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
    // "fs" would slip past the owners of "node:fs".
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
    ...folders.map((folder) => ({
      files: [`src/${folder}/**/*.ts`],
      excludeFiles: ['src/**/*.test.ts'],
      rules: { 'no-restricted-imports': ['error', restrictedImports(folder)] as never },
    })),
    {
      files: ['src/**/*.ts'],
      excludeFiles: ['src/**/*.test.ts', 'src/async/**', 'src/*.ts'],
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

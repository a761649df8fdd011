/** Every test there is, the ones on real containerd included. */
import process from 'node:process'
import { runGate } from './run-check.ts'
import { runTests } from './run-node-tests.ts'

process.exitCode =
  runGate() &&
  (await runTests([
    { name: 'unit', globs: ['src/**/*.test.ts', 'tools/**/*.test.ts'] },
    {
      name: 'component',
      globs: [
        'test/component/**/*.test.ts',
        'test/contract/**/*.test.ts',
        'test/kernel/**/*.test.ts',
        'test/bench/**/*.test.ts',
      ],
      timeoutMs: 120_000,
      confirm: true,
    },
    // Most of them wait most of the time, each in namespaces of its own.
    { name: 'e2e', globs: ['test/e2e/**/*.test.ts'], concurrency: 2, timeoutMs: 300_000, confirm: true },
  ]))
    ? 0
    : 1

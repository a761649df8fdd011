/** What people do with a standalone node, from a fresh folder to the end, through all that ends a node: npm run test:jobs. */
import process from 'node:process'
import { runTests } from './run-node-tests.ts'

const group = { name: 'jobs', globs: ['test/jobs/*.test.ts'], processes: 1, timeoutMs: 900_000 }
process.exitCode = (await runTests([group])) ? 0 : 1

/** What "npm run package" wrote, each artefact tried on real containerd: npm run test:package. */
import process from 'node:process'
import { runTests } from './run-node-tests.ts'
import { withImages } from './with-images.ts'

const group = { name: 'package', globs: ['test/package/*.test.ts'], processes: 1, timeoutMs: 500_000 }
process.exitCode = (await withImages(() => runTests([group]))) ? 0 : 1

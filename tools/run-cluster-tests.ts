/**
 * The tests of the cluster once more, with a real control plane in place of our own API server, and the answers of both API servers
 * compared: KUBE_BIN=DIR npm run test:cluster. Without KUBE_BIN nothing runs, and that is no failure.
 */
import process from 'node:process'
import { chosenDifferences } from '../test/contract/api-server/chosen-differences.ts'
import { allTables } from '../test/contract/api-server/all-tables.ts'
import { allBehaviour } from '../test/contract/controllers/all-behaviour.ts'
import { chosenBehaviour } from '../test/contract/controllers/chosen-behaviour.ts'
import { findKubePrograms, KUBE_BIN, WANTED_PROGRAMS } from '../test/control-plane/kube-programs.ts'
import { runTests } from './run-node-tests.ts'
import type { TestGroup } from './run-node-tests.ts'
import { withImages } from './with-images.ts'

/** The files of each group; some tests in them are about the standalone node alone, and skipped. */
export const clusterGroups: readonly TestGroup[] = [
  {
    name: 'contract',
    globs: ['test/contract/api-server/*.test.ts', 'test/control-plane/real-api.test.ts'],
    processes: 1,
    timeoutMs: 120_000,
  },
  {
    name: 'controllers',
    globs: ['test/contract/controllers/*.test.ts', 'test/control-plane/real-controllers.test.ts'],
    processes: 1,
    timeoutMs: 600_000,
    confirm: true,
  },
  {
    name: 'cluster',
    globs: ['test/e2e/cluster/*.test.ts'],
    processes: 1,
    timeoutMs: 300_000,
    confirm: true,
    onDisk: true,
  },
]

/** What the command wants, for a user who has not given it. */
export function describeMissing(): string {
  const list = WANTED_PROGRAMS.join(', ')
  return `skipped: set ${KUBE_BIN} to a folder with the programs ${list} (etcd may also be the machine's own; kubectl is taken from there if it has one)\n\n0 passed, 0 failed, 0 skipped\n`
}

/** How the answers of the two API servers compare, in one line. */
export function describeContract(): string {
  const cases = allTables.reduce((sum, table) => sum + table.cases.length, 0)
  const chosen = new Set(chosenDifferences.flatMap((each) => each.cases)).size
  return `contract: ${cases} cases, ${cases - chosen} of them with the same answer, ${chosen} with a difference that is chosen\n`
}

/** How the controllers compare, in one line. */
export function describeBehaviour(): string {
  const cases = Object.values(allBehaviour).flat().length
  const chosen = new Set(chosenBehaviour.flatMap((each) => each.cases)).size
  return `controllers: ${cases} cases, ${cases - chosen} of them with the same end, ${chosen} with a difference that is chosen\n`
}

if (import.meta.main) {
  if (findKubePrograms() === undefined) {
    process.stdout.write(describeMissing())
  } else {
    process.stdout.write(describeContract() + describeBehaviour())
    process.exitCode = (await withImages(() => runTests(clusterGroups))) ? 0 : 1
  }
}

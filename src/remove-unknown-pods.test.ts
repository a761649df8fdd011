import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Logger } from './telemetry/logger.ts'
import { removeUnknownPods } from './remove-unknown-pods.ts'
import type { RemoveUnknownPodsDeps } from './remove-unknown-pods.ts'

/** A disk with the remains of two pods, of which one is known, and with something that is no pod. */
function setUp(options: { readonly broken?: readonly string[]; readonly known?: Set<string> } = {}) {
  const { broken = [], known = new Set(['known']) } = options
  const journal: string[] = []
  const lines: string[] = []
  const say = (message: string) => void lines.push(message)
  const log: Logger = { error: say, warn: say, info: say, debug: say, child: () => log }
  const act =
    (name: string, result?: unknown) =>
    async (...args: readonly (string | undefined)[]) => {
      journal.push([name, ...args.filter((arg) => arg !== undefined)].join(' '))
      if (broken.includes(name)) throw new Error('EACCES')
      return result
    }
  const uids = ['known', 'unknown', '..']
  const files = {
    listPods: act('listPods', uids),
    removePod: act('removePod'),
    listLogDirectories: act(
      'listLogs',
      uids.map((uid) => ({ uid, path: `/logs/${uid}` })),
    ),
    removeLogDirectory: act('removeLogs'),
    removeDanglingLinks: act('removeLinks'),
  } as unknown as RemoveUnknownPodsDeps['files']
  const cgroups = { list: act('listCgroups', uids), remove: act('removeCgroup') } as RemoveUnknownPodsDeps['cgroups']
  const notes = { uids: () => uids, forget: act('forget') } as unknown as RemoveUnknownPodsDeps['journal']
  const run = () =>
    removeUnknownPods({
      files,
      cgroups,
      journal: notes,
      knows: (uid) => known.has(uid),
      podLogsDirectory: '/logs',
      log,
    })
  return { run, journal, lines, known }
}

const REMOVALS = [
  'removePod unknown',
  'removeCgroup unknown',
  'removeLogs /logs/unknown',
  'forget unknown',
  'removeLinks /var/log/containers /logs',
]

describe('removeUnknownPods()', () => {
  test('removes files, cgroups and logs of pods that nobody knows', async () => {
    const { run, journal, lines } = setUp()
    await run()
    assert.deepEqual(
      journal.filter((line) => /^(?:remove|forget)/.test(line)),
      REMOVALS,
    )
    assert.deepEqual(lines, [])
  })

  for (const broken of [
    'listPods',
    'listCgroups',
    'listLogs',
    'removePod',
    'removeCgroup',
    'removeLogs',
    'removeLinks',
  ]) {
    test(`goes on and says so when ${broken} fails`, async () => {
      const { run, journal, lines } = setUp({ broken: [broken] })
      await run()
      const lost = { listPods: 'removePod', listCgroups: 'removeCgroup', listLogs: 'removeLogs' }[broken]
      assert.deepEqual(
        journal.filter((line) => /^(?:remove|forget)/.test(line)),
        REMOVALS.filter((line) => lost === undefined || !line.startsWith(lost)),
      )
      assert.equal(lines.length, 1)
    })
  }

  test('spares a pod that comes while others are removed', async () => {
    const known = new Set(['known'])
    const { run, journal } = setUp({ known })
    const running = run()
    known.add('unknown')
    await running
    assert.deepEqual(
      journal.filter((line) => /^(?:remove|forget)/.test(line)),
      ['removeLinks /var/log/containers /logs'],
    )
  })
})

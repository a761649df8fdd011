import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Logger } from '../../base/telemetry/logger.ts'
import { removeUnknownPods } from './remove-unknown-pods.ts'
import type { RemoveUnknownPodsDeps } from './remove-unknown-pods.ts'

interface Scene {
  readonly broken?: readonly string[]
  readonly known?: Set<string>
  /** Pods of which volumes may be mounted. */
  readonly mounted?: Set<string>
  readonly running?: ReadonlySet<string>
  /** Volumes do not go before. */
  readonly until?: Promise<void>
}

/** A disk with the remains of two pods, of which one is known, and with something that is no pod. */
function setUp(options: Scene = {}) {
  const { broken = [], known = new Set(['known']), mounted = new Set(), running = new Set() } = options
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
  const cgroups = {
    list: act('listCgroups', uids),
    quiesce: act('quiesce'),
    remove: act('removeCgroup'),
  } as unknown as RemoveUnknownPodsDeps['cgroups']
  const notes = { uids: () => uids, forget: act('forget') } as unknown as RemoveUnknownPodsDeps['journal']
  const run = () =>
    removeUnknownPods(
      {
        files,
        cgroups,
        journal: notes,
        registry: { knows: (uid) => known.has(uid) },
        observer: { refresh: async (uid) => (running.has(uid) ? {} : undefined) },
        volumes: {
          has: (uid) => mounted.has(uid),
          release: async ({ uid }) => {
            await options.until
            await act('release')(uid)
            mounted.delete(uid)
          },
        },
        metrics: { orphanVolumes: (cleaned, failed) => void journal.push(`orphans ${cleaned} ${failed}`) },
        podLogsDirectory: '/logs',
        log,
      },
      new AbortController().signal,
    )
  return { run, journal, lines, known }
}

const REMOVALS = [
  'removePod unknown',
  'removeCgroup unknown',
  'removeLogs unknown /logs/unknown',
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

  test('takes volumes away before the cgroup and the directory', async () => {
    const { run, journal } = setUp({ mounted: new Set(['known', 'unknown']) })
    assert.equal(await run(), 0)
    assert.deepEqual(
      journal.filter((line) => /^(?:quiesce|release|orphans|removeCgroup|removePod)/.test(line)),
      ['quiesce unknown', 'release unknown', 'removeCgroup unknown', 'removePod unknown', 'orphans 1 0'],
    )
  })

  test('removes what else is left while the volumes of a pod do not go', async () => {
    const until = Promise.withResolvers<void>()
    const { run, journal } = setUp({ mounted: new Set(['unknown']), until: until.promise })
    const running = run()
    await setImmediate()
    assert.deepEqual(
      journal.filter((line) => /^(?:remove|forget)/.test(line)),
      REMOVALS.slice(2, -1),
    )
    until.resolve()
    assert.equal(await running, 0)
    assert.deepEqual(journal.slice(-5), [
      'release unknown',
      'removeCgroup unknown',
      'removePod unknown',
      'orphans 1 0',
      REMOVALS.at(-1),
    ])
  })

  const stuck: readonly (readonly [why: string, scene: Scene])[] = [
    ['its volumes do not go', { broken: ['release'] }],
    ['it runs after all', { running: new Set(['unknown']) }],
  ]
  for (const [why, scene] of stuck) {
    test(`leaves the directory of a pod when ${why}, and says that more is to be done`, async () => {
      const { run, journal, lines } = setUp({ mounted: new Set(['unknown']), ...scene })
      assert.equal(await run(), 1)
      assert.ok(journal.includes('orphans 0 1'))
      assert.ok(!journal.includes('removePod unknown'))
      assert.deepEqual(lines, ['cannot remove what is left of a pod'])
    })
  }
})

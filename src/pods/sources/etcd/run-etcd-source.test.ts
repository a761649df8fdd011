import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../../test/fakes/fake-clock.ts'
import { until } from '../../../../test/fakes/until.ts'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'
import { EtcdHistoryError } from '../../../protocols/etcd/etcd-connection.ts'
import type { EtcdChange, EtcdChanges } from '../../../protocols/etcd/etcd-connection.ts'
import { createLastGoodManifests } from '../../../system/directories/last-good-manifests.ts'
import { RefusedManifests } from '../refused-manifests.ts'
import { decodeStaticPods } from '../decode-static-pod.ts'
import { runEtcdSource } from './run-etcd-source.ts'

const PREFIX = '/registry/nodes/n/boundpods'

const put = (name: string, key = `${PREFIX}/${name}`): EtcdChange => {
  const spec = { containers: [{ name: 'main', image: 'a' }] }
  return { key, value: Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec })) }
}

/** A store that is scripted: what each list answers, and what each watch yields before it fails. */
interface Script {
  readonly lists: (EtcdChanges | Error)[]
  readonly watches: (readonly (EtcdChanges | Error)[])[]
}

const at = (revision: bigint, changes: readonly EtcdChange[] = [], clusterId = 1n): EtcdChanges => ({
  clusterId,
  revision,
  knownTo: revision,
  changes,
})

interface Setting {
  readonly servers?: readonly string[]
  /** Where an earlier agent kept what was good. */
  readonly folder?: string
}

async function follow(
  script: Script,
  check: (seen: Seen) => Promise<void>,
  { servers = ['http://a:1'], folder = join(makeTemporaryFolder(), 'good') }: Setting = {},
): Promise<void> {
  const clock = new FakeClock()
  const end = new AbortController()
  const seen: Seen = { sets: [], asked: [], errors: [], clock }
  const running = runEtcdSource(
    {
      servers,
      prefix: PREFIX,
      async connect(server) {
        seen.asked.push(`connect ${server}`)
        return {
          async list() {
            seen.asked.push('list')
            const answer = script.lists.shift() ?? new Error('down')
            if (answer instanceof Error) throw answer
            return answer
          },
          async *watch(_, revision, signal) {
            seen.asked.push(`watch ${revision}`)
            for (const part of script.watches.shift() ?? []) {
              if (part instanceof Error) throw part
              yield part
            }
            await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
          },
          [Symbol.dispose]() {},
        }
      },
      decode: (bytes, key) =>
        decodeStaticPods(bytes, { kind: 'etcd', key }, { nodeName: 'n', refuseApiReferences: true }),
      clock,
      random: () => 0,
      logger: { ...silentLogger, error: (message) => void seen.errors.push(message) },
      lastGood: createLastGoodManifests(folder),
      refused: new RefusedManifests(),
      onRefused: () => {},
      emit: (pods) => void seen.sets.push(pods.map(({ metadata }) => metadata.name.replace('-n', '')).join(' ')),
    },
    end.signal,
  )
  try {
    await check(seen)
  } finally {
    end.abort(new Error('end'))
    await assert.rejects(running, /end/)
  }
}

interface Seen {
  readonly sets: string[]
  readonly asked: string[]
  readonly errors: string[]
  readonly clock: FakeClock
}

describe('runEtcdSource()', () => {
  test('reports all pods once, and the whole set again after each change', async () => {
    const watch = [at(5n), at(6n, [put('b')]), at(8n, [{ key: `${PREFIX}/a`, value: undefined }])]
    await follow({ lists: [at(5n, [put('a')])], watches: [watch] }, async ({ sets, asked }) => {
      await until(() => sets.length === 3)
      assert.deepEqual(sets, ['a', 'a b', 'b'])
      assert.deepEqual(asked, ['connect http://a:1', 'list', 'watch 6'])
    })
  })

  test('an empty store is a set, a store that does not answer is none', async () => {
    await follow({ lists: [new Error('down'), at(1n)], watches: [[]] }, async ({ sets, clock }) => {
      await until(() => clock.sleeping === 1)
      assert.deepEqual(sets, [])
      await clock.advance(1000)
      await until(() => sets.length === 1)
      assert.deepEqual(sets, [''])
    })
  })

  test('goes on where it was when a watch breaks, at the next server, and reports nothing that did not change', async () => {
    const watches = [[at(5n), at(7n, [put('b')]), new Error('gone')], [at(7n)]]
    await follow(
      { lists: [at(5n, [put('a')])], watches },
      async ({ sets, asked, clock }) => {
        await until(() => sets.length === 2)
        await clock.advance(1000)
        await until(() => asked.includes('watch 8'))
        assert.deepEqual(asked, ['connect http://a:1', 'list', 'watch 6', 'connect http://b:1', 'watch 8'])
        assert.deepEqual(sets, ['a', 'a b'])
      },
      { servers: ['http://a:1', 'http://b:1'] },
    )
  })

  test('a store that is ahead of what it has sent is asked again for the rest', async () => {
    const watches = [
      [at(5n), new Error('gone')],
      [{ ...at(90n), knownTo: 5n }, { ...at(90n, [put('b')]), knownTo: 40n }, new Error('gone')],
      [{ ...at(95n), knownTo: 40n }, at(95n, [put('c')])],
    ]
    await follow({ lists: [at(5n, [put('a')])], watches }, async ({ sets, asked, clock }) => {
      await until(() => asked.includes('watch 6'))
      await clock.advance(1000)
      await until(() => sets.length === 2)
      await clock.advance(2000)
      await until(() => sets.length === 3)
      assert.deepEqual(
        asked.filter((each) => each.startsWith('watch')),
        ['watch 6', 'watch 6', 'watch 41'],
      )
    })
  })

  for (const [what, spoiled] of [
    ['forgotten', [new EtcdHistoryError('compacted')]],
    ['gone back', [at(3n)]],
    ['of another store', [at(9n, [], 2n)]],
  ] as const)
    test(`reads all again when its history is ${what}`, async () => {
      const lists = [at(5n, [put('a'), put('b')]), at(9n, [put('b')], 2n)]
      await follow({ lists, watches: [spoiled, []] }, async ({ sets, asked }) => {
        await until(() => asked.includes('watch 10'))
        assert.deepEqual(sets, ['a b', 'b'])
      })
    })

  test('waits longer each time while no server answers, and never reports', async () => {
    await follow({ lists: [], watches: [] }, async ({ sets, asked, clock }) => {
      await until(() => clock.sleeping === 1)
      await clock.advance(120_000)
      const tries = asked.filter((each) => each === 'list').length
      assert.ok(tries > 5 && tries < 20, `${tries} tries in two minutes`)
      assert.deepEqual(sets, [])
    })
  })

  test('pods that an earlier agent had stand in for a store that does not answer, until it does', async () => {
    const folder = join(makeTemporaryFolder(), 'good')
    await follow(
      { lists: [at(5n, [put('a'), put('b')])], watches: [] },
      async ({ sets }) => await until(() => sets.length === 1),
      { folder },
    )
    const down = [new Error('down'), new Error('down'), new Error('down')]
    await follow(
      { lists: [...down, at(7n, [put('b'), put('c')])], watches: [] },
      async ({ sets, clock }) => {
        // Between two attempts, and until what was kept is used.
        await until(() => clock.sleeping === 2)
        await clock.advance(1000)
        assert.deepEqual(sets, [])
        await clock.advance(1000)
        assert.deepEqual(sets, ['a b'])
        await clock.advance(60_000)
        await until(() => sets.length === 2)
        assert.deepEqual(sets, ['a b', 'b c'])
      },
      { folder },
    )
  })

  test('a store that answers is not kept waiting for by what an earlier agent had', async () => {
    const folder = join(makeTemporaryFolder(), 'good')
    for (const [revision, name] of [
      [5n, 'a'],
      [6n, 'b'],
    ] as const)
      await follow(
        { lists: [at(revision, [put(name)])], watches: [] },
        async ({ sets, clock }) => {
          await until(() => sets.length === 1)
          await clock.advance(10_000)
          assert.deepEqual(sets, [name])
        },
        { folder },
      )
  })

  for (const [what, lost] of [
    ['that has gone back', at(2n)],
    ['of another cluster', at(9n, [], 2n)],
  ] as const)
    test(`an empty store ${what} ends no pod before it has a key for the node, also over the end of the agent`, async () => {
      const folder = join(makeTemporaryFolder(), 'good')
      const { clusterId } = lost
      const first = {
        lists: [at(5n, [put('a'), put('b')]), lost, at(20n, [], clusterId)],
        watches: [] as Script['watches'],
      }
      first.watches.push([lost], [at(12n, [], clusterId), new EtcdHistoryError('compacted')], [])
      await follow(
        first,
        async ({ sets, asked, errors }) => {
          await until(() => asked.includes('watch 21'))
          assert.deepEqual([...new Set(sets)], ['a b'])
          assert.equal(errors.length, 1)
          assert.match(errors[0] ?? '', /has no pods for this node: the last good ones go on/)
        },
        { folder },
      )
      const watches = [
        [
          at(30n, [], clusterId),
          at(31n, [put('c')], clusterId),
          at(32n, [{ key: `${PREFIX}/c`, value: undefined }], clusterId),
        ],
      ]
      await follow(
        { lists: [at(30n, [], clusterId)], watches },
        async ({ sets, errors }) => {
          await until(() => sets.length === 3)
          assert.deepEqual(sets, ['a b', 'c', ''])
          assert.equal(errors.length, 1)
        },
        { folder },
      )
    })

  test('pods whose keys went while nobody looked end, also after another store was there for a while', async () => {
    const lists = [at(5n, [put('a')]), at(9n, [], 2n), at(6n)]
    const watches = [[at(9n, [], 2n)], [at(9n, [], 1n)], []]
    await follow({ lists, watches }, async ({ sets, asked }) => {
      await until(() => asked.includes('watch 7'))
      assert.deepEqual(sets, ['a', 'a', ''])
    })
    const folder = join(makeTemporaryFolder(), 'good')
    for (const [list, names] of [
      [at(5n, [put('a')]), 'a'],
      [at(6n), ''],
    ] as const)
      await follow(
        { lists: [list], watches: [] },
        async ({ sets }) => {
          await until(() => sets.length === 1)
          assert.deepEqual(sets, [names])
        },
        { folder },
      )
  })

  test('takes the key itself and what is below it, and nothing beside it', async () => {
    const all = [put('list', PREFIX), put('a'), put('b', `${PREFIX}-old`), put('c', '/registry/nodes/n1/boundpods/c')]
    await follow({ lists: [at(1n, all)], watches: [[]] }, async ({ sets }) => {
      await until(() => sets.length === 1)
      assert.deepEqual(sets, ['list a'])
    })
  })
})

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { runEventExpiry } from '../../../src/api-server/lifecycle/run-event-expiry.ts'
import { FakeClock } from '../../fakes/fake-clock.ts'
import { call, watch } from './api-client.ts'
import type { WatchFrame } from './api-client.ts'
import { createTestApi } from './create-test-api.ts'
import type { TestApi } from './create-test-api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

interface World {
  readonly server: TestApi
  readonly clock: FakeClock
  put(name: string, data?: object, labels?: object): Promise<number>
  remove(name: string): Promise<void>
}

async function start(t: TestContext, historyVersions = 1000): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-watch-'))
  const clock = new FakeClock()
  const server = await createTestApi({ folder, clock, limits: { historyVersions } })
  t.after(async () => {
    await server[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })
  return {
    server,
    clock,
    async put(name, data = {}, labels = {}) {
      const body = { metadata: { name, labels }, data }
      const updated = await call(server.api, 'PUT', `${MAPS}/${name}`, { body })
      const { body: made } = updated.status === 404 ? await call(server.api, 'POST', MAPS, { body }) : updated
      return Number(made.metadata.resourceVersion)
    },
    async remove(name) {
      await call(server.api, 'DELETE', `${MAPS}/${name}`)
    },
  }
}

/** The first frames of a watch, while something happens. */
async function framesOf(world: World, query: string, count: number, happen = async () => {}): Promise<WatchFrame[]> {
  const end = new AbortController()
  const frames: WatchFrame[] = []
  const reading = (async () => {
    for await (const frame of watch(world.server.api, `${MAPS}?watch=1&${query}`, end.signal)) {
      frames.push(frame)
      if (frames.length === count) return
    }
  })()
  await new Promise((resolve) => setImmediate(resolve))
  await happen()
  await reading
  end.abort()
  return frames
}

function short(frames: readonly WatchFrame[]): string[] {
  return frames.map(({ type, object }) => `${type} ${object.metadata?.name ?? object.code ?? '-'}`)
}

describe('watch', () => {
  test('without a version: what is there, then what changes', async (t) => {
    const world = await start(t)
    await world.put('a')
    const frames = await framesOf(world, '', 5, async () => {
      await world.put('b')
      await world.put('a', { k: '1' })
      await world.remove('b')
      await world.put('b')
    })
    assert.deepEqual(short(frames), ['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b', 'ADDED b'])
    const versions = frames.map(({ object }) => Number(object.metadata.resourceVersion))
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
    )
  })

  test('from a version: all changes after it, also long ago', async (t) => {
    const world = await start(t)
    const version = await world.put('a')
    for (let count = 0; count < 300; count++) await world.put('a', { count: String(count) })
    const frames = await framesOf(world, `resourceVersion=${version}`, 300)
    assert.deepEqual(
      frames.map(({ type, object }) => `${type} ${object.data.count}`),
      Array.from({ length: 300 }, (_, count) => `MODIFIED ${count}`),
    )
  })

  test('by label: what leaves the selection is deleted, what enters it is added', async (t) => {
    const world = await start(t)
    await world.put('a', {}, { on: 'yes' })
    const frames = await framesOf(world, 'labelSelector=on%3Dyes', 5, async () => {
      await world.put('a', { k: '1' }, { on: 'yes' })
      await world.put('a', { k: '2' }, { on: 'no' })
      await world.put('a', { k: '3' }, { on: 'no' })
      await world.put('a', { k: '4' }, { on: 'yes' })
      await world.remove('a')
    })
    assert.deepEqual(
      frames.map(({ type, object }) => `${type} ${object.data?.k}`),
      ['ADDED undefined', 'MODIFIED 1', 'DELETED 1', 'ADDED 4', 'DELETED 4'],
    )
    const [, , left] = frames
    assert.ok(Number(left?.object.metadata.resourceVersion) > Number(frames[1]?.object.metadata.resourceVersion))
  })

  test('by name, in one namespace only', async (t) => {
    const world = await start(t)
    const frames = await framesOf(world, 'fieldSelector=metadata.name%3Da', 1, async () => {
      const other = { metadata: { name: 'a' } }
      await call(world.server.api, 'POST', '/api/v1/namespaces/kube-system/configmaps', { body: other })
      await world.put('b')
      await world.put('a', { mine: 'yes' })
    })
    assert.deepEqual(frames[0]?.object.data, { mine: 'yes' })
  })

  test('bookmarks report the newest version each minute, and at the end', async (t) => {
    const world = await start(t)
    const frames = await framesOf(
      world,
      `allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion=${world.server.store.version}`,
      2,
      async () => {
        await call(world.server.api, 'POST', '/api/v1/namespaces', { body: { metadata: { name: 'other' } } })
        await world.clock.advance(60_000)
        await world.clock.advance(30_000)
      },
    )
    assert.deepEqual(frames[0], {
      type: 'BOOKMARK',
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { resourceVersion: String(world.server.store.version), creationTimestamp: null },
      },
    })
    assert.equal(frames[1]?.type, 'BOOKMARK')
    assert.equal(world.clock.sleeping, 0)
  })

  test('sendInitialEvents: what is there, then a bookmark that says so', async (t) => {
    const world = await start(t)
    await world.put('a')
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const frames = await framesOf(world, query, 3, async () => void (await world.put('b')))
    assert.deepEqual(
      frames.map(({ type }) => type),
      ['ADDED', 'BOOKMARK', 'ADDED'],
    )
    assert.deepEqual(frames[1]?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' })
  })

  test('a version that is forgotten: 410, at the start and on the way', async (t) => {
    const world = await start(t, 20)
    const version = await world.put('a')
    const end = new AbortController()
    const slow = watch(world.server.api, `${MAPS}?watch=1&resourceVersion=${version}`, end.signal)
    const first = slow.next()
    await new Promise((resolve) => setImmediate(resolve))
    for (let count = 0; count < 100; count++) await world.put('a', { count: String(count) })
    assert.equal((await first).value?.type, 'MODIFIED')
    let last: WatchFrame | undefined
    for await (const frame of slow) last = frame
    assert.deepEqual([last?.type, last?.object.code, last?.object.reason], ['ERROR', 410, 'Expired'])
    // Parity: a client that comes too late gets the error in the watch, not instead of one.
    const late: WatchFrame[] = []
    for await (const frame of watch(world.server.api, `${MAPS}?watch=1&resourceVersion=${version}`, end.signal)) {
      late.push(frame)
    }
    assert.deepEqual(
      late.map(({ type, object }) => [type, object.code, object.reason]),
      [['ERROR', 410, 'Expired']],
    )
    end.abort()
  })

  test('as a table: columns once, then rows', async (t) => {
    const world = await start(t)
    await world.put('a')
    const answer = await world.server.api.handle(
      {
        method: 'GET',
        target: `${MAPS}?watch=1&timeoutSeconds=1`,
        headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
        user: { name: 'x', groups: [] },
        readBody: () => Promise.resolve(new Uint8Array()),
      },
      t.signal,
    )
    const texts: string[] = []
    const reading = (async () => {
      for await (const text of answer.body as AsyncIterable<string>) texts.push(text)
    })()
    await new Promise((resolve) => setImmediate(resolve))
    await world.put('b')
    await world.clock.advance(1000)
    await reading
    const tables = texts
      .join('')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as WatchFrame).object)
    assert.deepEqual(
      tables.map(({ kind, columnDefinitions, rows }) => [kind, columnDefinitions?.length, rows[0].cells[0]]),
      [
        ['Table', 3, 'a'],
        ['Table', undefined, 'b'],
      ],
    )
  })

  const rejected: readonly (readonly [string, number, RegExp])[] = [
    ['resourceVersion=x', 400, /Invalid value for resourceVersion/],
    ['resourceVersion=99999999999999999', 504, /Too large resource version/],
    ['sendInitialEvents=true', 422, /resourceVersionMatch: Forbidden: sendInitialEvents needs it/],
    ['resourceVersionMatch=NotOlderThan', 422, /only together with sendInitialEvents/],
    ['timeoutSeconds=-1', 400, /expected a whole number/],
    ['labelSelector=a%20in%20(', 400, /label selector/],
  ]
  for (const [query, status, message] of rejected) {
    test(`rejects ${query}`, async (t) => {
      const { server } = await start(t)
      const answer = await call(server.api, 'GET', `${MAPS}?watch=1&${query}`)
      assert.equal(answer.status, status)
      assert.match(answer.body.message, message)
    })
  }

  test('ends when the reader leaves, and leaves nothing behind', async (t) => {
    const world = await start(t)
    const end = new AbortController()
    const reading = watch(world.server.api, `${MAPS}?watch=1`, end.signal).next()
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(world.clock.sleeping, 1)
    end.abort()
    assert.equal((await reading).done, true)
    assert.equal(world.clock.sleeping, 0)
  })
})

describe('list', () => {
  test('in parts that belong together, whatever changes between', async (t) => {
    const world = await start(t)
    for (const name of ['a', 'b', 'c', 'd']) await world.put(name, { k: '1' })
    const first = await call(world.server.api, 'GET', `${MAPS}?limit=2`)
    assert.equal(first.body.metadata.remainingItemCount, 2)
    await world.put('c', { k: '2' })
    await world.put('b2')
    await world.remove('d')
    const rest = await call(world.server.api, 'GET', `${MAPS}?limit=2&continue=${first.body.metadata.continue}`)
    assert.deepEqual(
      rest.body.items.map((item: { metadata: { name: string }; data: object }) => [item.metadata.name, item.data]),
      [
        ['c', { k: '1' }],
        ['d', { k: '1' }],
      ],
    )
    assert.deepEqual(
      [rest.body.metadata.continue, rest.body.metadata.resourceVersion],
      [undefined, first.body.metadata.resourceVersion],
    )
  })

  test('a continuation that is too old gives a way to go on all the same', async (t) => {
    const world = await start(t, 20)
    for (const name of ['a', 'b', 'c']) await world.put(name)
    const first = await call(world.server.api, 'GET', `${MAPS}?limit=1`)
    for (let count = 0; count < 100; count++) await world.put('c', { count: String(count) })
    const expired = await call(world.server.api, 'GET', `${MAPS}?limit=1&continue=${first.body.metadata.continue}`)
    assert.deepEqual([expired.status, expired.body.reason], [410, 'Expired'])
    const rest = await call(world.server.api, 'GET', `${MAPS}?limit=5&continue=${expired.body.metadata.continue}`)
    assert.deepEqual(
      rest.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ['b', 'c'],
    )
  })

  test('limits count what is selected', async (t) => {
    const world = await start(t)
    for (let index = 0; index < 20; index++)
      await world.put(`m${String(index).padStart(2, '0')}`, {}, { odd: String(index % 2) })
    const names: string[] = []
    let token = ''
    do {
      const { body } = await call(world.server.api, 'GET', `${MAPS}?limit=3&labelSelector=odd%3D1&continue=${token}`)
      assert.ok(body.items.length <= 3)
      names.push(...body.items.map((item: { metadata: { name: string } }) => item.metadata.name))
      token = body.metadata.continue ?? ''
    } while (token !== '')
    assert.deepEqual(
      names,
      Array.from({ length: 10 }, (_, index) => `m${String(index * 2 + 1).padStart(2, '0')}`),
    )
  })

  test('versions: any, at least, exactly', async (t) => {
    const world = await start(t)
    const old = await world.put('a', { k: '1' })
    await world.put('a', { k: '2' })
    const valueFor = async (query: string) => {
      const { status, body } = await call(world.server.api, 'GET', `${MAPS}?${query}`)
      return status === 200 ? body.items[0].data.k : `${status} ${body.reason}`
    }
    const rows: readonly (readonly [string, string])[] = [
      ['', '2'],
      ['resourceVersion=0', '2'],
      [`resourceVersion=${old}`, '2'],
      [`resourceVersion=${old}&resourceVersionMatch=NotOlderThan`, '2'],
      [`resourceVersion=${old}&resourceVersionMatch=Exact`, '1'],
      [`resourceVersion=${old}&limit=10`, '1'],
      [`resourceVersion=${old + 1000}`, '504 Timeout'],
      ['resourceVersion=5&resourceVersionMatch=Exact', '410 Expired'],
      ['resourceVersionMatch=Exact', '422 Invalid'],
      ['resourceVersion=0&resourceVersionMatch=Exact', '422 Invalid'],
      ['continue=nonsense', '400 BadRequest'],
    ]
    for (const [query, expected] of rows) assert.equal(await valueFor(query), expected, query)
  })

  test('as a table, and as metadata alone', async (t) => {
    const world = await start(t)
    await world.put('a', { x: '1', y: '2' })
    const table = await call(world.server.api, 'GET', MAPS, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
    assert.deepEqual(
      table.body.columnDefinitions.map(({ name }: { name: string }) => name),
      ['Name', 'Data', 'Age'],
    )
    assert.deepEqual(table.body.rows[0].cells, ['a', 2, '0s'])
    assert.equal(table.body.rows[0].object.kind, 'PartialObjectMetadata')
    const partial = await call(world.server.api, 'GET', MAPS, {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    })
    assert.deepEqual(
      [partial.body.kind, partial.body.items[0].kind, partial.body.items[0].data],
      ['PartialObjectMetadataList', 'PartialObjectMetadata', undefined],
    )
  })
})

describe('events', () => {
  test('go an hour after they last happened', async (t) => {
    const world = await start(t)
    const path = '/api/v1/namespaces/default/events'
    const event = (name: string) => ({ metadata: { name }, involvedObject: { namespace: 'default' } })
    for (const name of ['once', 'again']) await call(world.server.api, 'POST', path, { body: event(name) })
    const end = new AbortController()
    const running = runEventExpiry({ store: world.server.store, clock: world.clock }, end.signal)
    const left = async () =>
      ((await call(world.server.api, 'GET', path)).body.items as { metadata: { name: string } }[]).map(
        ({ metadata }) => metadata.name,
      )
    await world.clock.advance(40 * 60_000)
    await call(world.server.api, 'PATCH:merge', `${path}/again`, {
      body: { lastTimestamp: new Date(world.clock.now()).toISOString() },
    })
    assert.deepEqual(await left(), ['again', 'once'])
    await world.clock.advance(25 * 60_000)
    assert.deepEqual(await left(), ['again'])
    await world.clock.advance(60 * 60_000)
    assert.deepEqual(await left(), [])
    end.abort(new Error('end'))
    await assert.rejects(running, /end/)
  })
})

describe('discovery', () => {
  test('says the same in one piece and in many', async (t) => {
    const { server } = await start(t)
    const get = async (path: string, accept?: string) =>
      (await call(server.api, 'GET', path, accept === undefined ? {} : { accept })).body
    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const whole = [...(await get('/api', aggregated)).items, ...(await get('/apis', aggregated)).items]
    const inOne = whole.flatMap(({ metadata, versions }) =>
      versions[0].resources.map(({ resource }: { resource: string }) => `${metadata.name ?? ''}/${resource}`),
    )
    const groups = (await get('/apis')).groups as { name: string; preferredVersion: { groupVersion: string } }[]
    const paths = groups.map(({ name, preferredVersion }) => [name, `/apis/${preferredVersion.groupVersion}`])
    const lists = await Promise.all(
      [['', '/api/v1'], ...paths].map(async ([group, path]) => ({
        group,
        list: await get(path ?? ''),
      })),
    )
    const inMany = lists.flatMap(({ group, list }) =>
      list.resources
        .filter(({ name }: { name: string }) => !name.includes('/'))
        .map(({ name }: { name: string }) => `${group}/${name}`),
    )
    assert.deepEqual(inOne, inMany)
    assert.ok(inOne.includes('/pods') && inOne.includes('coordination.k8s.io/leases'))
  })

  test('has a schema for every kind, with the keys that patches merge by', async (t) => {
    const { server } = await start(t)
    const index = (await call(server.api, 'GET', '/openapi/v3')).body.paths as Record<
      string,
      { serverRelativeURL: string }
    >
    for (const { serverRelativeURL } of Object.values(index)) {
      const document = (await call(server.api, 'GET', serverRelativeURL)).body
      const schemas = document.components.schemas as Record<string, object>
      const references = [...JSON.stringify(document).matchAll(/#\/components\/schemas\/([\w.]+)/g)].map(
        ([, name = '']) => name,
      )
      assert.deepEqual(
        references.filter((name) => schemas[name] === undefined),
        [],
      )
    }
    const core = (await call(server.api, 'GET', index['api/v1']?.serverRelativeURL ?? '')).body
    assert.deepEqual(core.components.schemas.Pod['x-kubernetes-group-version-kind'], [
      { group: '', version: 'v1', kind: 'Pod' },
    ])
    const { volumes } = core.components.schemas.PodSpec.properties
    assert.deepEqual(
      [volumes['x-kubernetes-patch-merge-key'], volumes['x-kubernetes-patch-strategy']],
      ['name', 'merge,retainKeys'],
    )
  })

  for (const [path, expected] of [
    ['/healthz', 'ok'],
    ['/livez', 'ok'],
    ['/readyz', 'ok'],
    ['/readyz/store', 'ok'],
    ['/readyz?verbose', '[+]ping ok\n[+]store ok\nreadyz check passed\n'],
  ] as const) {
    test(path, async (t) => assert.equal((await call((await start(t)).server.api, 'GET', path)).body, expected))
  }

  test('/metrics counts requests and objects, under a closed set of labels', async (t) => {
    const { api } = (await start(t)).server
    await call(api, 'GET', '/api/v1/namespaces/default/pods')
    await call(api, 'GET', '/api/v1/namespaces/default/pods/none')
    for (const path of ['/api/v1/namespaces/default/elves', '/api/v1/nodes/none/magic']) await call(api, 'GET', path)
    const { body } = await call(api, 'GET', '/metrics')
    const lines = String(body).split('\n')
    const row = (verb: string, resource: string, code: number, version = 'v1') =>
      `apiserver_request_total{code="${code}",group="",resource="${resource}",subresource="",verb="${verb}",version="${version}"} 1`
    assert.deepEqual(
      lines.filter((line) => line.startsWith('apiserver_request_total')),
      [row('LIST', 'pods', 200), row('GET', 'pods', 404), row('LIST', '', 404, ''), row('GET', 'nodes', 404)],
    )
    assert.ok(lines.some((line) => /^apiserver_resource_objects\{group="",resource="namespaces"\} [1-9]/.test(line)))
  })

  test('/version', async (t) => {
    const { body } = await call((await start(t)).server.api, 'GET', '/version')
    assert.deepEqual([body.major, body.minor, body.gitVersion], ['1', '36', 'v1.36.4'])
  })
})

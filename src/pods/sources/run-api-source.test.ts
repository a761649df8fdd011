import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { runApiSource } from './run-api-source.ts'
import type { ApiPods, FollowedObjects } from './run-api-source.ts'

function object(
  name: string,
  parts: { readonly uid?: string; readonly version?: string; readonly spec?: object } = {},
) {
  const { uid = `u-${name}`, version = '1', spec = { containers: [{ name: 'main', image: 'a' }] } } = parts
  return { metadata: { name, namespace: 'shop', uid, resourceVersion: version }, spec }
}

const BAD = { containers: 'none' }

async function setUp() {
  const sets: ApiPods[] = []
  const events: string[] = []
  const node = Promise.withResolvers<void>()
  const follows: FollowedObjects[] = []
  const stop = new AbortController()
  const running = runApiSource(
    {
      nodeName: 'node-1',
      nodeSeen: () => node.promise,
      follow: async (objects) => void follows.push(objects),
      events: { record: (pod, { reason, message }) => void events.push(`${pod.metadata.uid} ${reason} ${message}`) },
      log: silentLogger,
      emit: (set) => void sets.push(set),
    },
    stop.signal,
  )
  assert.equal(follows.length, 0, 'the Node was not seen yet')
  node.resolve()
  await running
  const [followed] = follows
  assert.ok(followed !== undefined)
  const { path, query, onReplace, onEvent } = followed
  assert.deepEqual({ path, query }, { path: '/api/v1/pods', query: { fieldSelector: 'spec.nodeName=node-1' } })
  const names = () => sets.at(-1)?.pods.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
  return { sets, events, names, list: (...items: unknown[]) => onReplace(items, '9'), onEvent }
}

describe('runApiSource()', () => {
  test('emits all pods of the node with the list and after each change', async () => {
    const { sets, names, list, onEvent } = await setUp()
    list(object('a'), object('b'))
    const [first] = sets.at(-1)?.pods ?? []
    onEvent({ type: 'MODIFIED', object: object('b', { version: '2' }) })
    assert.equal(sets.at(-1)?.pods[0], first, 'what is the same is the very same')
    onEvent({ type: 'ADDED', object: object('c') })
    onEvent({ type: 'DELETED', object: object('a') })
    assert.deepEqual([names(), sets.length], [['b 2', 'c 1'], 4])
    list(object('c'), object('d'))
    assert.deepEqual(names(), ['c 1', 'd 1'])
    list()
    assert.deepEqual(names(), [])
  })

  test('keeps mirror pods apart', async () => {
    const { sets, names, list } = await setUp()
    const mirror = object('proxy')
    list(object('a'), {
      ...mirror,
      metadata: { ...mirror.metadata, annotations: { 'kubernetes.io/config.mirror': 'x' } },
    })
    assert.deepEqual(names(), ['a 1'])
    assert.deepEqual(
      sets.at(-1)?.mirrors.map(({ metadata }) => metadata.name),
      ['proxy'],
    )
  })

  test('has only the identity of what cannot be read, and says so once', async () => {
    const { sets, events, names, list, onEvent } = await setUp()
    list(object('a'), object('b', { spec: BAD }), 'garbage', null)
    const bad = () => sets.at(-1)?.pods.flatMap(({ metadata, unreadable }) => (unreadable ? [metadata.uid] : []))
    assert.deepEqual([names(), bad()], [['a 1', 'b 1'], ['u-b']])
    assert.deepEqual(sets.at(-1)?.pods[1]?.spec, { containers: [] })
    onEvent({ type: 'MODIFIED', object: object('a', { version: '2', spec: BAD }) })
    onEvent({ type: 'MODIFIED', object: object('a', { version: '3', spec: BAD }) })
    assert.deepEqual(
      [names(), bad()],
      [
        ['a 3', 'b 1'],
        ['u-a', 'u-b'],
      ],
    )
    assert.deepEqual(
      events.map((event) => event.split(' ').slice(0, 2).join(' ')),
      ['u-b FailedValidation', 'u-a FailedValidation'],
    )
    onEvent({ type: 'MODIFIED', object: object('a', { version: '4' }) })
    onEvent({ type: 'DELETED', object: object('b') })
    assert.deepEqual([names(), bad()], [['a 4'], []])
  })
})

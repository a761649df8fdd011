import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addExplanations, parsePods, selectNamedPods } from './agent-client.ts'
import { formatPods } from '../../status.ts'

const list = {
  items: [
    {
      metadata: {
        uid: 'u-a',
        namespace: 'web',
        name: 'a',
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'u-r', controller: true }],
      },
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        conditions: [
          { type: 'Initialized', status: 'True' },
          { type: 'Ready', status: 'True' },
        ],
        initContainerStatuses: [{ restartCount: 4 }],
        containerStatuses: [{ restartCount: 2, state: { running: {} } }, { restartCount: 1 }],
      },
    },
    {
      metadata: { uid: 'u-b', name: 'b' },
      status: {
        phase: 'Pending',
        conditions: [{ type: 'Ready', status: 'False' }],
        containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such host' } } }],
      },
    },
    {},
  ],
}

describe('parsePods()', () => {
  test('keeps what a summary needs', () => {
    assert.deepEqual(parsePods(list), [
      {
        uid: 'u-a',
        namespace: 'web',
        name: 'a',
        phase: 'Running',
        ready: true,
        restarts: 7,
        address: '10.0.0.1',
        waiting: '',
        isControlled: true,
      },
      {
        uid: 'u-b',
        namespace: 'default',
        name: 'b',
        phase: 'Pending',
        ready: false,
        restarts: 0,
        address: '',
        waiting: 'ImagePullBackOff: no such host',
        isControlled: false,
      },
      {
        uid: '',
        namespace: 'default',
        name: '',
        phase: 'Unknown',
        ready: false,
        restarts: 0,
        address: '',
        waiting: '',
        isControlled: false,
      },
    ])
  })

  test('takes a list of nothing', () => assert.deepEqual(parsePods({ items: null }), []))
})

const explained = [
  { uid: 'u-a', namespace: 'web', name: 'a', why: 'Runs and is ready', steps: [] },
  { uid: 'u-b', namespace: 'default', name: 'b', why: 'Waits for its volumes:\nno gitRepo', steps: [] },
  { uid: 'u-c', namespace: 'default', name: 'c'.repeat(70), why: 'Is being ended (removed)', steps: [] },
]

describe('selectNamedPods()', () => {
  const rows: readonly (readonly [pod: string, uids: readonly string[]])[] = [
    ['a', ['u-a']],
    ['web/a', ['u-a']],
    ['web/b', []],
  ]
  for (const [pod, uids] of rows)
    test(`finds ${pod}`, () =>
      assert.deepEqual(
        selectNamedPods(explained, pod).map(({ uid }) => uid),
        uids,
      ))
})

describe('formatPods()', () => {
  test('is a table', () => {
    assert.deepEqual(formatPods(parsePods(list).slice(0, 2)).split('\n'), [
      'POD        READY  PHASE    RESTARTS  IP        WHY',
      'web/a      yes    Running  7         10.0.0.1',
      'default/b  no     Pending  0                   ImagePullBackOff: no such host',
    ])
  })

  test('says why, lists what is being ended, and cuts long names', () => {
    const name = `default/${'c'.repeat(51)}…`
    assert.deepEqual(formatPods(addExplanations(parsePods(list).slice(0, 2), explained)).split('\n'), [
      `${'POD'.padEnd(60)}  READY  PHASE        RESTARTS  IP        WHY`,
      `${'web/a'.padEnd(60)}  yes    Running      7         10.0.0.1`,
      `${'default/b'.padEnd(60)}  no     Pending      0                   Waits for its volumes: no gitRepo`,
      `${name}  no     Terminating                      Is being ended (removed)`,
    ])
  })

  test('says when there is nothing', () => assert.equal(formatPods([]), 'No pods.'))
})

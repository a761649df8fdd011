import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePods } from './agent-client.ts'
import { formatPods } from './status.ts'

const list = {
  items: [
    {
      metadata: { namespace: 'web', name: 'a' },
      status: {
        phase: 'Running',
        podIP: '10.0.0.1',
        conditions: [
          { type: 'Initialized', status: 'True' },
          { type: 'Ready', status: 'True' },
        ],
        containerStatuses: [{ restartCount: 2, state: { running: {} } }, { restartCount: 1 }],
      },
    },
    {
      metadata: { name: 'b' },
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
      { namespace: 'web', name: 'a', phase: 'Running', ready: true, restarts: 3, address: '10.0.0.1', waiting: '' },
      {
        namespace: 'default',
        name: 'b',
        phase: 'Pending',
        ready: false,
        restarts: 0,
        address: '',
        waiting: 'ImagePullBackOff: no such host',
      },
      { namespace: 'default', name: '', phase: 'Unknown', ready: false, restarts: 0, address: '', waiting: '' },
    ])
  })

  test('takes a list of nothing', () => assert.deepEqual(parsePods({ items: null }), []))
})

describe('formatPods()', () => {
  test('is a table', () => {
    assert.deepEqual(formatPods(parsePods(list).slice(0, 2)).split('\n'), [
      'POD        READY  PHASE    RESTARTS  IP        WHY',
      'web/a      yes    Running  3         10.0.0.1',
      'default/b  no     Pending  0                   ImagePullBackOff: no such host',
    ])
  })

  test('says when there is nothing', () => assert.equal(formatPods([]), 'No pods.'))
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodStatus } from '../../model/generated/core-v1.ts'
import { computeStatusPatch, hasAll } from './compute-status-patch.ts'
import type { StatusPatch } from './compute-status-patch.ts'

const main = { name: 'main', ready: true, restartCount: 0, image: 'a', imageID: 'b' }

describe('computeStatusPatch()', () => {
  const rows: readonly (readonly [string, PodStatus, PodStatus, StatusPatch | undefined])[] = [
    ['nothing', { phase: 'Running', message: undefined }, { phase: 'Running' }, undefined],
    ['what others said', { nominatedNodeName: 'n', resize: 'Proposed' }, {}, undefined],
    [
      'nothing, where the server writes an empty last state by itself',
      { containerStatuses: [{ ...main, lastState: {} }] },
      { containerStatuses: [main] },
      undefined,
    ],
    [
      'a last state that is gone',
      { containerStatuses: [{ ...main, lastState: { running: {} } }] },
      { containerStatuses: [main] },
      { containerStatuses: [main] },
    ],
    ['a word', { phase: 'Pending' }, { phase: 'Running' }, { phase: 'Running' }],
    ['a word that is gone', { phase: 'Failed', reason: 'X' }, { phase: 'Failed' }, { reason: null }],
    [
      'containers, all of them',
      { containerStatuses: [main] },
      { containerStatuses: [{ ...main, ready: false }] },
      { containerStatuses: [{ ...main, ready: false }] },
    ],
    [
      'amounts, one by one',
      { resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2' } } },
      { resources: { requests: { cpu: '2', memory: '1Gi' } } },
      { resources: { requests: { cpu: '2' }, limits: null } },
    ],
    [
      'conditions, one by one',
      {
        conditions: [
          { type: 'Ready', status: 'False', reason: 'X', lastTransitionTime: 't' },
          { type: 'Initialized', status: 'True' },
          { type: 'shop.test/paid', status: 'True' },
        ],
      },
      {
        conditions: [
          { type: 'Initialized', status: 'True' },
          { type: 'Ready', status: 'True', lastTransitionTime: 'u' },
        ],
      },
      { conditions: [{ type: 'Ready', status: 'True', reason: null, lastTransitionTime: 'u' }] },
    ],
    [
      'a condition that passed',
      {
        conditions: [
          { type: 'PodResizePending', status: 'True' },
          { type: 'PodScheduled', status: 'True' },
        ],
      },
      { conditions: [] },
      { conditions: [{ $patch: 'delete', type: 'PodResizePending' }] },
    ],
    [
      'addresses, in order',
      { podIPs: [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }] },
      { podIPs: [{ ip: '2001:db8::1' }, { ip: '192.0.2.2' }] },
      {
        '$setElementOrder/podIPs': [{ ip: '2001:db8::1' }, { ip: '192.0.2.2' }],
        podIPs: [{ ip: '2001:db8::1' }, { ip: '192.0.2.2' }, { $patch: 'delete', ip: '192.0.2.1' }],
      },
    ],
  ]
  for (const [name, before, after, expected] of rows) {
    test(`reports ${name}`, () => assert.deepEqual(computeStatusPatch(before, after), expected))
  }
})

describe('hasAll()', () => {
  const ready = { type: 'Ready', status: 'True', reason: null }
  const gone = { $patch: 'delete', type: 'PodResizeInProgress' }
  const patch = {
    phase: 'Running',
    containerStatuses: [main],
    resources: { requests: { cpu: '2' }, limits: null },
    conditions: [ready, gone],
  }
  const rows: readonly (readonly [string, StatusPatch, boolean])[] = [
    ['nothing', {}, true],
    ['the same', patch, true],
    ['a part', { resources: { limits: null } }, true],
    ['a part of a condition', { conditions: [{ type: 'Ready', reason: null }] }, true],
    ['another value', { phase: 'Pending' }, false],
    ['more', { message: null }, false],
    ['another amount', { resources: { requests: { memory: '1Gi' } } }, false],
    ['other containers', { containerStatuses: [{ ...main, ready: false }] }, false],
    ['another condition', { conditions: [ready, { $patch: 'delete', type: 'PodResizePending' }] }, false],
    ['something else of a condition', { conditions: [{ type: 'Ready', message: 'm' }] }, false],
  ]
  for (const [what, other, expected] of rows) test(what, () => assert.equal(hasAll(patch, other), expected))
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { computeDriverMarks } from './compute-driver-marks.ts'
import type { DriverMarks } from './compute-driver-marks.ts'
import type { DriverInfo } from './csi-node-object.ts'

const KEY = 'csi.volume.kubernetes.io/nodeid'
const info = (nodeId: string, topology: Readonly<Record<string, string>> = {}): DriverInfo => ({
  nodeId,
  maxVolumes: 0n,
  topology,
})

type Row = readonly [
  string,
  before: { readonly ids?: string; readonly labels?: Readonly<Record<string, string>> },
  known: Readonly<Record<string, DriverInfo | 'gone'>>,
  patch: NonNullable<DriverMarks['patch']>['metadata'] | undefined,
  collisions?: Readonly<Record<string, string>>,
]
const rows: readonly Row[] = [
  ['says nothing without drivers', {}, {}, undefined],
  ['reports the first id', {}, { a: info('n') }, { annotations: { [KEY]: '{"a":"n"}' } }],
  [
    'keeps the ids of others, sorted as ever',
    { ids: '{"z":"1","b":"2"}' },
    { m: info('n') },
    { annotations: { [KEY]: '{"b":"2","m":"n","z":"1"}' } },
  ],
  ['leaves an annotation alone that says it', { ids: '{ "a": "n" }' }, { a: info('n') }, undefined],
  ['reports an id that changed', { ids: '{"a":"old"}' }, { a: info('n') }, { annotations: { [KEY]: '{"a":"n"}' } }],
  [
    'takes out the id of a driver that is gone',
    { ids: '{"a":"1","b":"2"}' },
    { a: 'gone' },
    { annotations: { [KEY]: '{"b":"2"}' } },
  ],
  [
    'takes the annotation away with the last one',
    { ids: '{"a":"1"}' },
    { a: 'gone' },
    { annotations: { [KEY]: null } },
  ],
  ['has nothing to do for one that was not there', { ids: '{"b":"2"}' }, { a: 'gone' }, undefined],
  ['leaves what it cannot read for another', { ids: 'what' }, { a: 'gone' }, undefined],
  ['overwrites what it cannot read', { ids: '[' }, { a: info('n') }, { annotations: { [KEY]: '{"a":"n"}' } }],
  [
    'reports the topology of the node',
    { ids: '{"a":"n"}', labels: { 'example.com/zone': 'x', constructor: 'c' } },
    { a: info('n', { 'example.com/zone': 'x', 'example.com/rack': '7', constructor: 'c' }) },
    { labels: { 'example.com/rack': '7' } },
  ],
  [
    'does not move the node for a driver, and reports none of its labels',
    { ids: '{"a":"n"}', labels: { zone: 'x' } },
    { a: info('n', { zone: 'y', rack: '7' }) },
    undefined,
    { a: 'the driver says "zone" is "y", and the label of the node says "x"' },
  ],
  [
    'the first of two drivers that do not agree is believed',
    { ids: '{"a":"n","b":"m"}' },
    { a: info('n', { zone: 'x' }), b: info('m', { zone: 'y' }) },
    { labels: { zone: 'x' } },
    { b: 'the driver says "zone" is "y", and the label of the node says "x"' },
  ],
]

describe('computeDriverMarks()', () => {
  for (const [name, { ids, labels = {} }, known, metadata, collisions = {}] of rows) {
    test(name, () => {
      const annotations: Record<string, string> = ids === undefined ? {} : { [KEY]: ids }
      assert.deepEqual(computeDriverMarks({ metadata: { annotations, labels } }, new Map(Object.entries(known))), {
        patch: metadata && { metadata },
        collisions: new Map(Object.entries(collisions)),
      })
    })
  }
})

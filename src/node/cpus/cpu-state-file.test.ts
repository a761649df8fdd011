import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePodUid } from '../../model/pod/pod.ts'
import { formatCpuStateFile, parseCpuStateFile } from './cpu-state-file.ts'
import type { CpuStateRecord } from './cpu-state-file.ts'

const set = (...cpus: number[]) => new Set(cpus)

/** As the Go kubelet 1.36 wrote them. */
const NONE = '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'
const STATIC =
  '{"policyName":"static","defaultCpuSet":"0","entries":{"abc-123":{"first":"1","main":"1"}},"checksum":124377374}'

const rows: readonly { name: string; text: string; record: CpuStateRecord }[] = [
  {
    name: 'a node on which all share all',
    text: NONE,
    record: { policyName: 'none', shared: new Set(), assignments: new Map() },
  },
  {
    name: 'a pod with CPUs for itself',
    text: STATIC,
    record: {
      policyName: 'static',
      shared: set(0),
      assignments: new Map([
        [
          parsePodUid('abc-123'),
          new Map([
            ['first', set(1)],
            ['main', set(1)],
          ]),
        ],
      ]),
    },
  },
]

describe('the file of CPU assignments', () => {
  for (const { name, text, record } of rows) {
    test(`is the Go kubelet's: ${name}`, () => {
      assert.equal(formatCpuStateFile({ ...record, podLevel: false }), text)
      assert.deepEqual(parseCpuStateFile(text), record)
    })
  }

  test('is written in the order of names, whatever came first', () => {
    const record = {
      policyName: 'static',
      shared: set(8, 0),
      assignments: new Map([
        [
          parsePodUid('b'),
          new Map([
            ['z', set(4, 6, 5)],
            ['a', set(1)],
          ]),
        ],
        [parsePodUid('a'), new Map([['m', set(2, 3)]])],
      ]),
    }
    const text = formatCpuStateFile({ ...record, podLevel: false })
    assert.match(
      text,
      /^{"policyName":"static","defaultCpuSet":"0,8","entries":{"a":{"m":"2-3"},"b":{"a":"1","z":"4-6"}},/,
    )
    assert.deepEqual(formatCpuStateFile({ ...parseCpuStateFile(text), podLevel: false }), text)
  })

  test("has what pods have as a whole, with the Go kubelet's checksum for it", () => {
    const text =
      '{"policyName":"none","defaultCpuSet":"1-3","entries":{"pod":{"container1":"4-6","container2":"1-3"}},"podEntries":{"pod":{"cpuSet":"4-6"}},"checksum":2649431787}'
    const record = parseCpuStateFile(text)
    assert.deepEqual(
      [...(record.assignments.get(parsePodUid('pod')) ?? [])],
      [
        ['', set(4, 5, 6)],
        ['container1', set(4, 5, 6)],
        ['container2', set(1, 2, 3)],
      ],
    )
    assert.equal(formatCpuStateFile({ ...record, podLevel: true }), text)
    assert.throws(() => parseCpuStateFile(text.replace('"cpuSet":"4-6"', '"cpuSet":"4-5"')), /checksum is 2649431787/)
    const empty = formatCpuStateFile({ policyName: 'static', shared: set(0), assignments: new Map(), podLevel: true })
    assert.equal(parseCpuStateFile(empty).assignments.size, 0, 'other checksums for the same text are both known')
    assert.notEqual(
      empty,
      formatCpuStateFile({ policyName: 'static', shared: set(0), assignments: new Map(), podLevel: false }),
    )
  })

  test('with a checksum of 0 is taken as it is', () => {
    const text = STATIC.replace(/124377374/, '0').replace('"first":"1",', '')
    assert.deepEqual([...parseCpuStateFile(text).assignments.keys()], ['abc-123'])
  })

  for (const [what, text] of [
    ['a digit changed', STATIC.replace('"main":"1"', '"main":"2"')],
    ['half of it lost', STATIC.slice(0, 50)],
    ['nothing in it', ''],
    ['another kind of JSON', '[]'],
    ['a field lost', '{"policyName":"none","checksum":0}'],
    ['the entries of an old version', '{"policyName":"static","defaultCpuSet":"0","entries":{"id":"1"},"checksum":0}'],
    ['CPUs that are none', '{"policyName":"static","defaultCpuSet":"x","checksum":0}'],
    ['a UID that is none', '{"policyName":"static","defaultCpuSet":"0","entries":{"../x":{}},"checksum":0}'],
  ] as const) {
    test(`is rejected with ${what}`, () => assert.throws(() => parseCpuStateFile(text)))
  }
})

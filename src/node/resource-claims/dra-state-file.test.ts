import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePodUid } from '../../model/pod/pod.ts'
import type { ClaimRecord } from './claim-record.ts'
import { formatDraState, parseDraState } from './dra-state-file.ts'

const EMPTY =
  '{"Data":"{\\"kind\\":\\"DRACheckpoint\\",\\"apiVersion\\":\\"checkpoint.dra.kubelet.k8s.io/v1\\",\\"ClaimInfoStateList\\":[]}","Checksum":2361995144}'
// As the Go kubelet writes it at its first start.
const NEVER_USED =
  '{"Data":"{\\"kind\\":\\"DRACheckpoint\\",\\"apiVersion\\":\\"checkpoint.dra.kubelet.k8s.io/v1\\",\\"ClaimInfoStateList\\":null}","Checksum":4010664294}'

const record: ClaimRecord = {
  uid: 'c-1',
  namespace: 'shop',
  name: 'gpu',
  podUids: new Set([parsePodUid('u-2'), parsePodUid('u-1')]),
  drivers: new Map([
    ['b.example', []],
    [
      'a.example',
      [
        {
          poolName: 'pool',
          deviceName: 'gpu-0',
          shareId: undefined,
          requestNames: ['one'],
          cdiDeviceIds: ['a.example/gpu=0'],
        },
        { poolName: 'pool', deviceName: 'gpu-1', shareId: 's', requestNames: [], cdiDeviceIds: [] },
      ],
    ],
  ]),
  isPrepared: false,
}

function dataOf(text: string): string {
  return (JSON.parse(text) as { Data: string }).Data
}

describe('the state file of claims', () => {
  test('without claims is, byte for byte, what the Go kubelet writes', () => {
    assert.equal(formatDraState([]), EMPTY)
    assert.deepEqual(parseDraState(EMPTY), [])
    assert.deepEqual(parseDraState(NEVER_USED), [])
  })

  test('has all that is known of a claim, in Go’s order, and null for lists without anything', () => {
    const text = formatDraState([record])
    assert.equal(
      dataOf(text),
      '{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","ClaimInfoStateList":[{"ClaimUID":"c-1","ClaimName":"gpu",' +
        '"Namespace":"shop","PodUIDs":{"u-1":{},"u-2":{}},"DriverState":{"a.example":{"Devices":[{"PoolName":"pool","DeviceName":"gpu-0",' +
        '"ShareID":null,"RequestNames":["one"],"CDIDeviceIDs":["a.example/gpu=0"]},{"PoolName":"pool","DeviceName":"gpu-1","ShareID":"s",' +
        '"RequestNames":null,"CDIDeviceIDs":null}]},"b.example":{"Devices":null}}}]}',
    )
    assert.deepEqual(parseDraState(text), [record])
  })

  test('has its claims in one order, whatever order they came in', () => {
    const other = { ...record, namespace: 'a' }
    assert.equal(formatDraState([record, other]), formatDraState([other, record]))
  })

  const broken: readonly (readonly [string, string, RegExp])[] = [
    ['half of a file', EMPTY.slice(0, 40), /JSON/],
    ['a digit changed', EMPTY.replace('2361995144', '2361995145'), /checksum is 2361995145, expected 2361995144/],
    ['no checksum', EMPTY.replace('2361995144', '0'), /checksum is 0/],
    ['another version', withData('{"apiVersion":"checkpoint.dra.kubelet.k8s.io/v9"}'), /expected version/],
    ['a list', '[]', /expected the file to be an object/],
    ['a claim without a name', withList('[{"ClaimUID":"c"}]'), /expected text in ClaimName/],
    [
      'a device of texts',
      withList('[{"ClaimUID":"c","ClaimName":"n","Namespace":"s","DriverState":{"d":{"Devices":["x"]}}}]'),
      /expected a device to be an object/,
    ],
    [
      'a UID that is none',
      withList('[{"ClaimUID":"c","ClaimName":"n","Namespace":"s","PodUIDs":{"../x":{}}}]'),
      /pod UID/,
    ],
  ]
  for (const [name, text, problem] of broken)
    test(`is not believed: ${name}`, () => {
      assert.throws(() => parseDraState(text), problem)
    })
})

/** A file with such data, and the right checksum. */
function withData(data: string): string {
  const probe = JSON.stringify({ Data: data, Checksum: 0 })
  try {
    parseDraState(probe)
  } catch (error) {
    const expected = /expected (\d+)/.exec(String(error))?.[1]
    if (expected !== undefined) return JSON.stringify({ Data: data, Checksum: Number(expected) })
  }
  return probe
}

function withList(list: string): string {
  return withData(`{"apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","ClaimInfoStateList":${list}}`)
}

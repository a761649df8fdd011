import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parsePodUid } from '../../model/pod/pod.ts'
import { formatDeviceCheckpoint, parseDeviceCheckpoint } from './device-checkpoint-file.ts'
import type { DeviceCheckpoint } from './device-checkpoint-file.ts'
import { ContainerAllocateResponse } from './generated/device-plugin-v1beta1.ts'

// As a Go kubelet of 1.36.4 wrote it.
const WRITTEN =
  '{"Data":{"PodDeviceEntries":[{"PodUID":"2defe84c-e19e-4dd2-9553-263e78e2f729","ContainerName":"c",' +
  '"ResourceName":"example.com/gpu","DeviceIDs":{"0":["gpu-2"]},"AllocResp":"ChAKB0dQVV9JRFMSBWdwdS0yCgYKAVoSAXoSDgoEL2dwdRIE' +
  'L3RtcBgBGhoKCS9kZXYvZ3B1MBIJL2Rldi9udWxsGgJydyIWCg1leGFtcGxlLmNvbS9hEgXDvDxiPg=="}],' +
  '"RegisteredDevices":{"example.com/gpu":["gpu-0","gpu-1","gpu-2"]}},"Checksum":4190391889}'
const READ: DeviceCheckpoint = {
  entries: [
    {
      uid: parsePodUid('2defe84c-e19e-4dd2-9553-263e78e2f729'),
      container: 'c',
      resource: 'example.com/gpu',
      byNode: new Map([[0, ['gpu-2']]]),
      response: ContainerAllocateResponse.create({
        envs: { GPU_IDS: 'gpu-2', Z: 'z' },
        devices: [{ containerPath: '/dev/gpu0', hostPath: '/dev/null', permissions: 'rw' }],
        mounts: [{ containerPath: '/gpu', hostPath: '/tmp', readOnly: true }],
        annotations: { 'example.com/a': 'ü<b>' },
      }),
    },
  ],
  registered: new Map([['example.com/gpu', ['gpu-0', 'gpu-1', 'gpu-2']]]),
}

describe('the record of devices', () => {
  test('is the one of the Go kubelet, to the last byte', () => {
    assert.deepEqual(parseDeviceCheckpoint(WRITTEN), READ)
    assert.equal(formatDeviceCheckpoint(READ), WRITTEN)
  })

  test('is the same before and after it was written, whatever is in it', () => {
    const [entry] = READ.entries
    assert.ok(entry !== undefined)
    const record: DeviceCheckpoint = {
      entries: [
        {
          ...entry,
          byNode: new Map([
            [-1, ['ü & <x>']],
            [0, []],
            [1, ['a', 'b']],
          ]),
        },
        { ...entry, container: 'd', response: ContainerAllocateResponse.create() },
      ],
      registered: new Map([
        ['a.com/x', []],
        ['b.com/y', ['1']],
      ]),
    }
    assert.deepEqual(parseDeviceCheckpoint(formatDeviceCheckpoint(record)), record)
    const nothing = { entries: [], registered: new Map() }
    assert.deepEqual(parseDeviceCheckpoint(formatDeviceCheckpoint(nothing)), nothing)
  })

  for (const [name, text] of [
    ['is cut off', WRITTEN.slice(0, 200)],
    ['is another than was written', WRITTEN.replace('gpu-2', 'gpu-1')],
    ['has no checksum', WRITTEN.replace(/,"Checksum":\d+/v, '')],
    ['has no data', '{"Checksum":1}'],
    ['has entries of another kind', '{"Data":{"PodDeviceEntries":[{"PodUID":1}]},"Checksum":1}'],
    ['has devices of another kind', '{"Data":{"RegisteredDevices":{"a":"b"}},"Checksum":1}'],
    ['is no object', 'null'],
  ] as const) {
    test(`cannot be used when it ${name}`, () => {
      assert.throws(() => parseDeviceCheckpoint(text), Error)
    })
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { csiAttachmentName, csiVolumeName, inlineHandle } from './csi-names.ts'
import { formatVolumeData, parseVolumeData } from './volume-data.ts'

describe('formatVolumeData()', () => {
  test('writes what the Go kubelet writes, byte for byte', () => {
    const volume = { driver: 'disk.example.com', handle: 'vol-1' }
    const data = {
      specVolID: 'pv-1',
      volumeHandle: volume.handle,
      driverName: volume.driver,
      nodeName: 'node-1',
      volumeLifecycleMode: 'Persistent',
      attachmentID: csiAttachmentName(volume, 'node-1'),
    } as const
    assert.equal(
      formatVolumeData(data),
      '{"attachmentID":"csi-19c42f43d69fa1f381555c6802be2757a07267e9705a867fd59297bc87dd0694","driverName":"disk.example.com","nodeName":"node-1","specVolID":"pv-1","volumeHandle":"vol-1","volumeLifecycleMode":"Persistent"}\n',
    )
  })

  test('escapes what Go escapes', () => {
    const data = { driverName: 'd', volumeHandle: 'a<b>&"\u2028' }
    assert.equal(formatVolumeData(data), '{"driverName":"d","volumeHandle":"a\\u003cb\\u003e\\u0026\\"\\u2028"}\n')
  })
})

describe('parseVolumeData()', () => {
  test('reads what was written, by whichever kubelet', () => {
    const data = {
      driverName: 'd',
      volumeHandle: 'h',
      specVolID: 'pv',
      nodeName: 'n',
      attachmentID: 'a',
      seLinuxMountContext: 'u:r:t:s0:c1,c2',
    }
    assert.deepEqual(parseVolumeData(formatVolumeData({ ...data, volumeLifecycleMode: 'Ephemeral' })), {
      ...data,
      volumeLifecycleMode: 'Ephemeral',
    })
    assert.deepEqual(parseVolumeData('{"volumeHandle":"h","driverName":"d","seLinuxMountContext":"x"}'), {
      driverName: 'd',
      volumeHandle: 'h',
      specVolID: undefined,
      nodeName: undefined,
      attachmentID: undefined,
      seLinuxMountContext: 'x',
      volumeLifecycleMode: undefined,
    })
  })

  for (const text of [
    '',
    '{',
    '[]',
    'null',
    '{}',
    '{"driverName":"d"}',
    '{"driverName":"","volumeHandle":"h"}',
    '{"driverName":1,"volumeHandle":"h"}',
  ])
    test(`does not know whose volume ${JSON.stringify(text)} is`, () => assert.equal(parseVolumeData(text), undefined))
})

test('names of volumes are those of the Go kubelet', () => {
  assert.equal(csiVolumeName('hostpath.csi.k8s.io', 'vol-1'), 'kubernetes.io/csi/hostpath.csi.k8s.io^vol-1')
  assert.equal(inlineHandle('u-1', 'data'), 'csi-7a075fb358279980b660d575168af6c25ee140b5f3a73a8a16e21f8e4f1e9ad8')
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDesiredVolume } from '../../../../../test/builders/create-desired-volume.ts'
import type { ISCSIPersistentVolumeSource } from '../../../../model/generated/core-v1.ts'
import { computeAttachRound, iscsiLink, parseIscsiFolder, toIscsiDisk } from './iscsi-disk.ts'
import { formatIscsiRecord, parseIscsiRecord } from './iscsi-record.ts'

const IQN = 'iqn.2026-01.test:a-lun-b'
const plain = { targetPortal: '192.0.2.1', iqn: IQN, lun: 7 }
const diskOf = (parts: Partial<ISCSIPersistentVolumeSource>) =>
  toIscsiDisk(createDesiredVolume({ iscsi: { ...plain, ...parts } }))

describe('toIscsiDisk()', () => {
  test('has ports, each portal once, and the interface that is usual', () => {
    const { portals, iface, name, folder } = diskOf({ portals: ['192.0.2.1:3260', '192.0.2.2:99', '[2001:db8::1]'] })
    assert.deepEqual(
      { portals, iface, name, folder },
      {
        portals: ['192.0.2.1:3260', '192.0.2.2:99', '[2001:db8::1]:3260'],
        iface: 'default',
        name: `192.0.2.1:${IQN}:7`,
        folder: `iface-default/192.0.2.1:3260-${IQN}-lun-7`,
      },
    )
  })

  test('has an interface of its own with an initiator name, made from the one that is named', () => {
    const { iface, baseInterface } = diskOf({ initiatorName: 'iqn.2026-01.test:me', iscsiInterface: 'eth1' })
    assert.deepEqual([iface, baseInterface], ['192.0.2.1:3260:data', 'eth1'])
  })

  test('takes the secret of its own namespace, or of the pod', () => {
    assert.deepEqual(diskOf({ secretRef: { name: 's' } }).chap.secret, { namespace: 'shop', name: 's' })
    assert.deepEqual(diskOf({ secretRef: { name: 's', namespace: 'n' } }).chap.secret, { namespace: 'n', name: 's' })
    assert.equal(diskOf({}).chap.secret, undefined)
  })

  for (const odd of [{ targetPortal: '-x' }, { targetPortal: 'a/b' }, { iqn: '../..' }, { iscsiInterface: '--logout' }])
    test(`refuses ${JSON.stringify(odd)}`, () => assert.throws(() => diskOf(odd), /names nothing of iSCSI/))
})

test('parseIscsiFolder() reads what a folder is called', () => {
  for (const portal of ['192.0.2.1', '[2001:db8::1]', 'san-1.test']) {
    const { folder } = diskOf({ targetPortal: portal })
    assert.deepEqual(parseIscsiFolder(folder), { iface: 'default', portal: `${portal}:3260`, iqn: IQN, lun: 7 })
  }
  for (const folder of ['', 'x', 'iface-default/x', `iface-default/p-${IQN}-lun-`])
    assert.equal(parseIscsiFolder(folder), undefined)
})

test('iscsiLink() knows the names that udev gives disks', () => {
  const rows: readonly (readonly [string, string, string, boolean])[] = [
    ['192.0.2.1:3260', 'tcp', `ip-192.0.2.1:3260-iscsi-${IQN}-lun-7`, true],
    ['192.0.2.1:3260', 'tcp', `ip-192.0.2.1:3260-iscsi-${IQN}-lun-77`, false],
    ['192.0.2.1:3260', 'tcp', `ip-192.0.2.1:3260-iscsi-${IQN}-lun-7-part1`, false],
    ['[2001:db8::1]:3260', 'tcp', `ip-2001:db8::1:3260-iscsi-${IQN}-lun-7`, true],
    ['192.0.2.1:3260', 'be2iscsi', `pci-0000:04:00.4-ip-192.0.2.1:3260-iscsi-${IQN}-lun-7`, true],
  ]
  for (const [portal, transport, name, expected] of rows)
    assert.equal(iscsiLink({ iqn: IQN, lun: 7 }, { portal, transport }).test(name), expected, name)
})

test('a record is what the Go kubelet writes, and one without portals is none', () => {
  const disk = diskOf({ portals: ['192.0.2.2'], initiatorName: 'me' })
  assert.equal(
    formatIscsiRecord(disk),
    `{"VolName":"data","Portals":["192.0.2.1:3260","192.0.2.2:3260"],"Iqn":"${IQN}","Lun":"7","InitIface":"default","Iface":"192.0.2.1:3260:data","InitiatorName":"me","MetricsProvider":null}\n`,
  )
  assert.deepEqual(parseIscsiRecord(formatIscsiRecord(disk)), {
    portals: disk.portals,
    iface: disk.iface,
    initiatorName: 'me',
    volumeName: 'data',
  })
  for (const text of ['', '{', 'null', '{}', '{"Portals":[],"Iface":"x"}', '{"Portals":["p"]}'])
    assert.equal(parseIscsiRecord(text), undefined)
})

test('computeAttachRound() tries all portals twice, and longer where only one answers', () => {
  const rows: readonly (readonly [portals: number, found: number, round: number, string])[] = [
    [1, 1, 1, 'done'],
    [1, 0, 1, 'failed'],
    [3, 0, 1, 'failed'],
    [2, 1, 1, 'again'],
    [2, 1, 4, 'again'],
    [2, 1, 5, 'done'],
    [3, 2, 1, 'again'],
    [3, 2, 2, 'done'],
    [3, 3, 1, 'done'],
  ]
  for (const [portals, found, round, expected] of rows)
    assert.equal(computeAttachRound({ portals, found, round }), expected, `${portals} ${found} ${round}`)
})

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { systemClock } from '../../base/async/clock.ts'
import { runProcess } from '../processes/run-process.ts'
import { createScsiDevices } from './scsi-devices.ts'

const { signal } = new AbortController()
const IQN = 'iqn.2026-01.test:disks'

/** What the kernel shows of two sessions with a target, one with another, and a disk with two paths. */
function createMachine() {
  const root = makeTemporaryFolder()
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const session = (host: number, iqn: string, address: string) => {
    const folder = `sys/class/iscsi_host/host${host}/device/session${host}`
    write(`${folder}/iscsi_session/session${host}/targetname`, `${iqn}\n`)
    const connection = `${folder}/connection${host}:0/iscsi_connection/connection${host}:0`
    write(`${connection}/address`, `${address}\n`)
    write(`${connection}/port`, '3260\n')
    write(`${connection}/persistent_address`, 'san.test\n')
    write(`${connection}/persistent_port`, `${3260 + host}\n`)
    write(`${folder}/target${host}:0:0/${host}:0:0:1/block/sd${'abc'[host - 2]}/size`, '8')
    write(`sys/class/scsi_host/host${host}/scan`, '')
    write(`sys/block/sd${'abc'[host - 2]}/device/delete`, '')
  }
  session(2, IQN, '192.0.2.1')
  session(3, IQN, '2001:db8::1')
  session(4, 'iqn.other', '192.0.2.3')
  write('sys/block/dm-1/slaves/sda/x', '')
  write('sys/block/dm-1/slaves/sdb/x', '')
  write('dev/sda', '')
  mkdirSync(join(root, 'dev/disk/by-path'), { recursive: true })
  symlinkSync('../../sda', join(root, 'dev/disk/by-path/ip-a'))
  const ran: string[] = []
  const scsi = createScsiDevices({
    clock: systemClock,
    root,
    run: async (clock, request, s) => {
      ran.push(request.argv.join(' '))
      return request.argv[0] === 'dd'
        ? await runProcess(clock, request, s)
        : { exitCode: request.argv[0] === 'blockdev' ? 1 : 0, stdout: '', stderr: 'no' }
    },
  })
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  return { root, scsi, ran, read }
}

describe('createScsiDevices()', () => {
  test('knows the hosts of a target by portal, under the addresses that it has and was given', async () => {
    const { scsi } = createMachine()
    assert.deepEqual(
      [...(await scsi.portalHosts(IQN))],
      [
        ['192.0.2.1:3260', 2],
        ['san.test:3262', 2],
        ['[2001:db8::1]:3260', 3],
        ['san.test:3263', 3],
      ],
    )
    assert.deepEqual([...(await scsi.portalHosts('iqn.none'))], [])
  })

  test('knows the disks of a target, what joins them, and where links lead', async () => {
    const { scsi, root } = createMachine()
    assert.deepEqual(await scsi.disksOfTarget(IQN, 1), ['sda', 'sdb'])
    assert.deepEqual(await scsi.disksOfTarget(IQN, 2), [])
    assert.equal(await scsi.multipathOf('/dev/sdb'), `${root}/dev/dm-1`)
    assert.equal(await scsi.multipathOf('/dev/sdc'), undefined)
    assert.equal(await scsi.multipathOf('/dev/dm-7'), '/dev/dm-7')
    assert.deepEqual(await scsi.pathsOf('/dev/dm-1'), ['sda', 'sdb'])
    assert.deepEqual(await scsi.links('by-path'), ['ip-a'])
    assert.deepEqual(await scsi.links('by-id'), [])
    assert.equal(await scsi.follow('by-path', 'ip-a'), `${root}/dev/sda`)
    assert.equal(await scsi.follow('by-path', 'ip-b'), undefined)
  })

  test('writes to the kernel in a child process, and makes no file that is not there', async () => {
    const { scsi, read } = createMachine()
    await scsi.scanDisk(2, 7, signal)
    assert.equal(read('sys/class/scsi_host/host2/scan'), '0 0 7')
    await scsi.scanAll(signal)
    assert.equal(read('sys/class/scsi_host/host4/scan'), '- - -')
    await assert.rejects(scsi.scanDisk(9, 0, signal), /No such file/)
  })

  test('removes a disk also when it cannot be flushed, and one that is gone', async () => {
    const { scsi, read, ran, root } = createMachine()
    await scsi.removeMultipath('/dev/dm-1', signal)
    await scsi.removeDisk('sda', signal)
    await scsi.removeDisk('sdz', signal)
    assert.equal(read('sys/block/sda/device/delete'), '1')
    assert.deepEqual(ran.slice(0, 2), ['multipath -f /dev/dm-1', `blockdev --flushbufs ${root}/dev/sda`])
    assert.equal(ran.length, 3)
  })

  test('knows of nothing on a machine without SCSI', async () => {
    const scsi = createScsiDevices({ clock: systemClock, root: makeTemporaryFolder() })
    assert.deepEqual([...(await scsi.portalHosts(IQN))], [])
    await scsi.scanAll(signal)
  })
})

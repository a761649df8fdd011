import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createBlockDevices } from './block-devices.ts'
import type { DeviceContent } from './block-devices.ts'
import { ProcessError } from '../processes/run-process.ts'
import type { ProcessResult } from '../processes/run-process.ts'

const never = new AbortController().signal
const end = (exitCode: number | undefined, stdout = '', stderr = ''): ProcessResult => ({ exitCode, stdout, stderr })

/** Programs answer in this order. */
function setUp(...answers: (ProcessResult | Error)[]) {
  const calls: string[] = []
  const run = async (_: unknown, { argv }: { readonly argv: readonly string[] }): Promise<ProcessResult> => {
    calls.push(argv.join(' '))
    const answer = answers.shift() ?? end(0)
    if (answer instanceof Error) throw answer
    return answer
  }
  return { calls, devices: createBlockDevices({ clock: new FakeClock(), log: silentLogger, run }) }
}

const BLKID = 'blkid -p -s TYPE -s PTTYPE -o export /dev/x'
const READS = [
  'blockdev --getsize64 /dev/x',
  'dd if=/dev/x of=/dev/null bs=1M skip=0 count=2 status=none',
  'dd if=/dev/x of=/dev/null bs=1M skip=8 count=2 status=none',
]
const readable = [end(0, `${10 * 1024 * 1024}\n`), end(0), end(0)]
const WIPEFS = 'wipefs --noheadings --output TYPE -- /dev/x'

describe('createBlockDevices()', () => {
  const rows: readonly (readonly [string, readonly ProcessResult[], DeviceContent])[] = [
    ['a file system', [end(0, 'DEVNAME=/dev/x\nTYPE=xfs\n')], { kind: 'fileSystem', type: 'xfs' }],
    [
      'a file system beside a partition table',
      [end(0, 'PTTYPE=dos\nTYPE=vfat\n')],
      { kind: 'fileSystem', type: 'vfat' },
    ],
    ['a partition table', [end(0, 'PTTYPE=gpt\n')], { kind: 'other', what: 'a partition table (gpt)' }],
    ['a contradiction', [end(8)], { kind: 'other', what: 'signatures that contradict each other' }],
    ['nothing, as both programs say', [end(2), ...readable, end(0, '')], { kind: 'blank' }],
    [
      'something that only wipefs knows',
      [end(2), ...readable, end(0, 'zfs_member\nzfs_member\n')],
      { kind: 'other', what: 'something of type zfs_member, zfs_member' },
    ],
  ]
  for (const [name, answers, expected] of rows) {
    test(`finds ${name}`, async () => {
      const { devices, calls } = setUp(...answers)
      assert.deepEqual(await devices.probe('/dev/x', never), expected)
      assert.deepEqual(calls, answers.length === 1 ? [BLKID] : [BLKID, ...READS, WIPEFS])
    })
  }

  test('is certain of nothing when a device cannot be read or a program fails', async () => {
    const unread = setUp(end(2), ...readable, end(1, '', 'wipefs: No medium found'))
    await assert.rejects(unread.devices.probe('/dev/x', never), /No medium found/)
    await assert.rejects(setUp(end(2), end(0, '0\n')).devices.probe('/dev/x', never), {
      message: 'Cannot find out what is on "/dev/x": it has no size',
    })
    const broken = setUp(end(2), end(0, '99999999\n'), end(0), end(1, '', 'dd: Input/output error'))
    await assert.rejects(broken.devices.probe('/dev/x', never), /Input\/output error/)
    await assert.rejects(setUp(end(4, '', 'usage')).devices.probe('/dev/x', never), /exit code 4, expected 0: usage/)
    await assert.rejects(setUp(end(undefined)).devices.probe('/dev/x', never), /killed by a signal/)
    const missing = new ProcessError(['blkid'], 'no such program can be started')
    await assert.rejects(setUp(missing).devices.probe('/dev/x', never), missing)
  })

  const growths: readonly (readonly [fileSystem: string, argv: string])[] = [
    ['ext3', 'resize2fs /dev/x'],
    ['ext4', 'resize2fs /dev/x'],
    ['xfs', 'xfs_growfs -d /mnt/x'],
    ['btrfs', 'btrfs filesystem resize max /mnt/x'],
  ]
  for (const [fileSystem, argv] of growths) {
    test(`makes a file system of type ${fileSystem} larger`, async () => {
      const { calls, devices } = setUp(end(0, `TYPE=${fileSystem}\n`))
      await devices.grow('/dev/x', '/mnt/x', never)
      assert.deepEqual(calls, [BLKID, argv])
    })
  }

  test('leaves a blank device as it is, and makes nothing larger that it does not know', async () => {
    const blank = setUp(end(2), ...readable, end(0))
    await blank.devices.grow('/dev/x', '/mnt/x', never)
    assert.deepEqual(blank.calls, [BLKID, ...READS, WIPEFS])
    const unknown = 'a file system of type vfat, expected one of ext3, ext4, xfs, btrfs'
    const { devices } = setUp(end(0, 'TYPE=vfat\n'), end(0, 'PTTYPE=dos\n'), end(0, 'TYPE=ext4\n'), end(1, '', 'bad'))
    await assert.rejects(devices.grow('/dev/x', '/mnt/x', never), {
      message: `Cannot make what is on "/dev/x" larger: ${unknown}`,
    })
    await assert.rejects(devices.grow('/dev/x', '/mnt/x', never), /a partition table \(dos\)/)
    await assert.rejects(devices.grow('/dev/x', '/mnt/x', never), /exit code 1, expected 0: bad/)
  })

  const formats: readonly (readonly [fileSystem: string, argv: string])[] = [
    ['ext4', 'mkfs.ext4 -F -m0 /dev/x'],
    ['ext3', 'mkfs.ext3 -F -m0 /dev/x'],
    ['xfs', 'mkfs.xfs -f /dev/x'],
    ['btrfs', 'mkfs.btrfs /dev/x'],
  ]
  for (const [fileSystem, argv] of formats) {
    test(`makes ${fileSystem}`, async () => {
      const { devices, calls } = setUp()
      await devices.format('/dev/x', fileSystem, never)
      assert.deepEqual(calls, [argv])
    })
  }

  test('makes nothing whose name could be another program', async () => {
    const { devices, calls } = setUp()
    await assert.rejects(devices.format('/dev/x', '../sh', never), /is no name of a file system/)
    assert.deepEqual(calls, [])
  })

  const checks: readonly (readonly [string, ProcessResult | Error, isFailure: boolean])[] = [
    ['a good one', end(0), false],
    ['one that was repaired', end(1), false],
    ['one that could not be repaired', end(4, '', 'run fsck manually'), true],
    ['one of a kind without a check', end(8), false],
    ['any without the program', new ProcessError(['fsck'], 'no such program can be started'), false],
  ]
  for (const [name, answer, isFailure] of checks) {
    test(`${isFailure ? 'refuses' : 'goes on after'} the check of ${name}`, async () => {
      const { devices, calls } = setUp(answer)
      const checking = devices.check('/dev/x', never)
      if (isFailure) await assert.rejects(checking, /run fsck manually/)
      else await checking
      assert.deepEqual(calls, ['fsck -a /dev/x'])
    })
  }

  const LIST = 'losetup --json --list --output NAME,BACK-FILE'
  const loops = (...pairs: readonly (readonly [string, string | null])[]) =>
    end(0, JSON.stringify({ loopdevices: pairs.map(([name, file]) => ({ name, 'back-file': file })) }))

  test('holds a file once, and releases only its own', async () => {
    const first = setUp(end(0, ''), end(0, '/dev/loop0\n'))
    await first.devices.hold('/m/u-1', never)
    assert.deepEqual(first.calls, [LIST, 'losetup --find --show /m/u-1'])
    const again = setUp(loops(['/dev/loop0', '/m/u-1']))
    await again.devices.hold('/m/u-1', never)
    assert.deepEqual(again.calls, [LIST])
    const last = setUp(loops(['/dev/loop0', '/m/u-1'], ['/dev/loop1', '/m/u-2'], ['/dev/loop2', null]))
    await last.devices.release('/m/u-1', never)
    assert.deepEqual(last.calls, [LIST, 'losetup --detach /dev/loop0'])
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDiskAgent, settled, whilePassing } from '../../../../test/builders/create-disk-agent.ts'
import { createVolumePod } from '../../../../test/builders/create-volumes.ts'
import { until } from '../../../../test/fakes/until.ts'
import { FakeSan } from '../../../../test/fakes/fake-san.ts'
import type { FCVolumeSource, Volume } from '../../../model/generated/core-v1.ts'

const [W1, W2] = ['50060e801049cfd1', '50060e801049cfd2']
const GLOBAL = `/k/plugins/kubernetes.io/fc/${W1}-${W2}-lun-3`
const PATH = '/k/pods/u-1/volumes/kubernetes.io~fc/data'
const podWith = (fc: FCVolumeSource, uid = 'u-1') => {
  const volume: Volume = { name: 'data', fc }
  return createVolumePod(['data'], { uid, volumes: [volume] })
}
const byPort = podWith({ targetWWNs: [W1, W2], lun: 3 })

function createSan(): FakeSan {
  const san = new FakeSan()
  for (const device of ['/dev/sda', '/dev/sdb', '/dev/dm-0'])
    san.disks.contents.set(device, { kind: 'fileSystem', type: 'xfs' })
  return san
}

describe('a volume of Fibre Channel', () => {
  test('is found by port and number after the hosts have looked, mounted, and forgotten after its last pod', async () => {
    const agent = createDiskAgent({}, { san: createSan() })
    const { san, ensure, release, volumes } = agent
    san.hidden.set(`by-path/pci-0000:81:00.0-fc-0x${W2}-lun-3`, '/dev/sdb')
    san.links.set(`by-path/fc-0x${W2}-lun-33`, '/dev/sdx')
    await volumes.adopt()
    await ensure(byPort)
    assert.deepEqual(san.take(), [
      'scan all',
      'fsck /dev/sdb',
      `mkdir ${GLOBAL} 750`,
      `mount xfs /dev/sdb ${GLOBAL}`,
      `mkdir ${PATH} 750`,
      `bind ${GLOBAL} ${PATH}`,
    ])
    await release('u-1')
    await settled(agent)
    assert.deepEqual(san.take(), [`unmount ${PATH}`, `rmdir ${PATH}`, `unmount ${GLOBAL}`, 'delete sdb'])
    assert.deepEqual([san.folders.size, san.places.size], [0, 0])
  })

  test('with several paths is the device that joins them; its paths stay while that is busy', async () => {
    const agent = createDiskAgent({}, { san: createSan() })
    const { san, ensure, release, volumes, clock } = agent
    san.links.set(`by-path/fc-0x${W1}-lun-3`, '/dev/sda')
    san.links.set(`by-path/fc-0x${W2}-lun-3`, '/dev/sdb')
    san.joined.set('/dev/dm-0', ['sda', 'sdb'])
    await volumes.adopt()
    await ensure(byPort)
    assert.ok(san.take().includes(`mount xfs /dev/dm-0 ${GLOBAL}`))
    san.failures.set('multipath', new Error('map in use'))
    await release('u-1')
    await settled(agent)
    assert.equal(san.take().at(-1), 'multipath -f /dev/dm-0')
    san.failures.clear()
    await clock.advance(1000)
    await settled(agent)
    assert.deepEqual(san.take(), ['multipath -f /dev/dm-0', 'delete sda', 'delete sdb'])
  })

  test('is found by its own names, with _ for blanks', async () => {
    const agent = createDiskAgent({}, { san: createSan() })
    const { san, ensure, volumes } = agent
    san.links.set('by-id/scsi-VENDOR_1234', '/dev/sda')
    await volumes.adopt()
    await ensure(podWith({ wwids: ['VENDOR 1234'], readOnly: true, fsType: 'xfs' }))
    assert.ok(san.take().includes('mount xfs /dev/sda /k/plugins/kubernetes.io/fc/VENDOR_1234 ro'))
  })

  test('that is nowhere is reported, and found when it comes', async () => {
    const { san, ensure, volumes, events, clock } = createDiskAgent({}, { san: createSan() })
    await volumes.adopt()
    const ensuring = ensure(byPort)
    await until(() => events.length > 0)
    assert.deepEqual(events, [
      'Warning FailedMount MountVolume.WaitForAttach failed for volume "data" : no fc disk found',
    ])
    san.hidden.set(`by-path/fc-0x${W1}-lun-3`, '/dev/sda')
    await whilePassing(clock, ensuring)
  })

  test('without ports or names fails with what was expected', async () => {
    const { ensure, events, volumes } = createDiskAgent({}, { san: createSan() })
    await volumes.adopt()
    const giveUp = new AbortController()
    void ensure(podWith({ targetWWNs: [W1] }), giveUp.signal).catch(() => {})
    await until(() => events.length > 0)
    giveUp.abort(new Error('enough'))
    assert.match(events.join(), /expected targetWWNs with lun, or wwids, in fc of its spec/)
  })

  test('is found by the next agent, under the same name', async () => {
    const san = createSan()
    san.links.set(`by-path/fc-0x${W1}-lun-3`, '/dev/sda')
    const kind = { controllerAttaches: true }
    const before = createDiskAgent({}, { san, kind })
    await before.volumes.adopt()
    const name = `kubernetes.io/fc/[${W1} ${W2}]:3`
    before.attach(name)
    await before.ensure(byPort)
    await before.kill()
    const after = createDiskAgent({}, { san, kind })
    await after.volumes.adopt()
    assert.deepEqual(after.fc.inUse(), [name])
    await after.release('u-1')
    await settled(after)
    assert.deepEqual([after.fc.inUse(), san.links.size], [[], 0])
  })
})

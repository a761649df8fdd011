import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { HEADER, loadSettings, MACHINE } from '../../../test/fakes/load-settings.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createCgroups } from './create-cgroups.ts'
import { readMachine } from '../../system/machine/read-machine.ts'

const machine = readMachine()

async function create(fields: string, driver: 'cgroupfs' | 'systemd' = 'cgroupfs') {
  const file = `${HEADER}localStorageCapacityIsolation: false\nfailCgroupV1: false\n${fields}`
  const settings = await loadSettings(
    ['--config=/f'],
    { '/f': file },
    { ...MACHINE, cgroupVersion: machine.cgroupVersion },
  )
  const deps = {
    settings,
    machine,
    layout: { driver, root: '/deckhand-does-not-exist', perQos: true },
    pods: () => [],
    hasExclusiveCpus: () => false,
    onCgroupWork: () => {},
    onProtected: () => {},
    events: { record: () => {} },
    environment: { DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/does/not/exist' },
    clock: new FakeClock(),
    log: silentLogger,
  }
  return await createCgroups(deps, new AbortController().signal)
}

// What is asked of the kernel here is never more than whether a cgroup is there.
describe('the start ends when', () => {
  test('the root of cgroups is not there', async () => {
    await assert.rejects(create(''), /^Error: Cannot use cgroupRoot "\/deckhand-does-not-exist": no such cgroup/)
  })

  test('more is reserved than there is', async () => {
    const fields = 'systemReserved: { memory: 100Ti }\nkubeReserved: { cpu: "5000", pid: "1" }\n'
    await assert.rejects(
      create(fields),
      /^Error: Cannot reserve more than the node has: cpu: kubeReserved 5k, expected at most \d+ in all; memory: systemReserved 100Ti/,
    )
  })

  test('systemd is to make cgroups and does not answer', async () => {
    await assert.rejects(
      create('', 'systemd'),
      /^Error: Cannot use the cgroup driver systemd: systemd does not answer at "unix:path=\/does\/not\/exist"/,
    )
  })

  test('the programs of the system are to be moved to where they are', async () => {
    await assert.rejects(create('cgroupRoot: /a\nsystemCgroups: /\n'), /^Error: Cannot use systemCgroups "\/"/)
  })
})

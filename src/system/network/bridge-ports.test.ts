import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { BridgePorts } from './bridge-ports.ts'

/** A machine with folders in place of its devices and processes. */
async function makeMachine(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-'))
  t.after(() => rm(folder, { recursive: true }))
  const [devices, processes] = [join(folder, 'devices'), join(folder, 'processes')]
  const write = async (path: string, ifindex: number, iflink: number) => {
    await mkdir(path, { recursive: true })
    await writeFile(`${path}/ifindex`, `${ifindex}\n`)
    await writeFile(`${path}/iflink`, `${iflink}\n`)
  }
  await mkdir(devices)
  // A file, as that of the bonding driver.
  await writeFile(`${devices}/bonding_masters`, '')
  return {
    ports: new BridgePorts({ devices, processes }),
    addDevice: (name: string, ifindex: number, iflink: number) => write(`${devices}/${name}`, ifindex, iflink),
    addPort: async (name: string, ifindex: number, iflink: number) => {
      await write(`${devices}/${name}`, ifindex, iflink)
      await mkdir(`${devices}/${name}/brport`)
      await writeFile(`${devices}/${name}/brport/hairpin_mode`, '0\n')
    },
    addProcess: (pid: number, ifindex: number, iflink: number) =>
      write(`${processes}/${pid}/root/sys/class/net/eth0`, ifindex, iflink),
    removeDevice: (name: string) => rm(`${devices}/${name}`, { recursive: true }),
    hairpin: async (name: string) => (await readFile(`${devices}/${name}/brport/hairpin_mode`, 'utf8')).trim(),
  }
}

test('the port of a process is found by its device, also one that came later', async (t) => {
  const machine = await makeMachine(t)
  await machine.addPort('veth1', 5, 4)
  await machine.addPort('veth2', 7, 6)
  await machine.addProcess(100, 4, 5)
  await machine.ports.allowHairpin(100)
  assert.deepEqual([await machine.hairpin('veth1'), await machine.hairpin('veth2')], ['1', '0'])
  await machine.removeDevice('veth1')
  await machine.addPort('veth3', 9, 8)
  await machine.addProcess(101, 8, 9)
  await machine.ports.allowHairpin(101)
  assert.deepEqual([await machine.hairpin('veth3'), await machine.hairpin('veth2')], ['1', '0'])
})

test('a device that only has the number of the peer is left alone, and one at no bridge is an error', async (t) => {
  const machine = await makeMachine(t)
  await machine.addPort('veth1', 5, 2)
  await machine.addProcess(100, 4, 5)
  await assert.rejects(machine.ports.allowHairpin(100), /no device of this machine is the peer of eth0 of process 100/)
  assert.equal(await machine.hairpin('veth1'), '0')
  await machine.addProcess(101, 4, 6)
  await assert.rejects(machine.ports.allowHairpin(101), /no device of this machine/)
  await machine.addDevice('veth2', 7, 6)
  await machine.addProcess(102, 6, 7)
  await assert.rejects(machine.ports.allowHairpin(102), { code: 'ENOENT' })
  await assert.rejects(machine.ports.allowHairpin(103), { code: 'ENOENT' })
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import process from 'node:process'
import { describe, test } from 'node:test'
import { systemClock } from '../async/clock.ts'
import { cgroupFolders, makeCgroup, removeCgroup } from '../host/cgroup-tree.ts'
import { parsePodUid } from '../model/pod.ts'
import { createPodCgroups } from './pod-cgroups.ts'

const never = new AbortController().signal
const uid = parsePodUid('u-1')

function mayMakeCgroups(): boolean {
  try {
    accessSync('/sys/fs/cgroup', constants.W_OK)
    return process.getuid?.() === 0
  } catch {
    return false
  }
}

describe('createPodCgroups()', () => {
  test('has nothing to list and to remove where pods have no cgroups of their own', async () => {
    const layout = { driver: 'cgroupfs', root: '/does-not-exist', perQos: false } as const
    const cgroups = createPodCgroups({ layout, clock: systemClock }, never)
    await cgroups.remove(uid)
    await cgroups.killContainer(uid, 'c-1')
    assert.deepEqual(await cgroups.list(), [])
  })

  test('lists the pods of all classes, and removes one with all below it', { skip: !mayMakeCgroups() }, async () => {
    const root = `/deckhand-test-${process.pid}`
    const cgroups = createPodCgroups({ layout: { driver: 'cgroupfs', root, perQos: true }, clock: systemClock }, never)
    try {
      await makeCgroup(`${root}/kubepods/besteffort/podu-1/container`)
      await makeCgroup(`${root}/kubepods/podu-2`)
      await makeCgroup(`${root}/kubepods/burstable/not-a-pod`)
      assert.deepEqual([...(await cgroups.list())].sort(), ['u-1', 'u-2'])
      await cgroups.remove(uid)
      assert.deepEqual(await cgroups.list(), ['u-2'])
      await cgroups.remove(uid)
    } finally {
      await removeCgroup(systemClock, root, never)
    }
    assert.deepEqual(
      (await cgroupFolders(root)).filter((folder) => existsSync(folder)),
      [],
    )
  })

  test('ends the processes of one container, and no others', { skip: !mayMakeCgroups() }, async () => {
    const root = `/deckhand-test-${process.pid}`
    const cgroups = createPodCgroups({ layout: { driver: 'cgroupfs', root, perQos: true }, clock: systemClock }, never)
    const sleepers = ['c-1', 'c-2'].map(() => spawn('sleep', ['1000'], { stdio: 'ignore' }))
    const [lost, kept] = sleepers
    try {
      for (const [index, sleeper] of sleepers.entries()) {
        const path = `${root}/kubepods/podu-1/c-${index + 1}`
        await makeCgroup(path)
        for (const folder of await cgroupFolders(path)) {
          // Not every controller of cgroup v1 takes a process without being set up first; one is enough.
          await writeFile(`${folder}/cgroup.procs`, String(sleeper.pid)).catch(() => {})
        }
      }
      await cgroups.killContainer(uid, 'c-1')
      if (lost?.signalCode === null) await once(lost, 'exit')
      assert.deepEqual([lost?.signalCode, kept?.signalCode], ['SIGKILL', null])
    } finally {
      for (const sleeper of sleepers) sleeper.kill('SIGKILL')
      await removeCgroup(systemClock, root, never)
    }
  })
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import process from 'node:process'
import { text as readText } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { openCgroupFiles } from '../../src/system/cgroups/cgroup-files.ts'
import { createCgroupReader } from '../../src/system/cgroups/cgroup-reader.ts'
import { cgroupFolders, makeCgroup, removeCgroup } from '../../src/system/cgroups/cgroup-tree.ts'
import { parsePodUid } from '../../src/model/pod/pod.ts'
import { createCgroupfsDriver } from '../../src/node/cgroups/cgroup-driver.ts'
import { createPodCgroups } from '../../src/node/cgroups/pod-cgroups.ts'
import { createContainer, createPod } from '../builders/create-pod.ts'

const never = new AbortController().signal
const version = existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1
const uid = parsePodUid('u-1')
const GIB = 1024n ** 3n

function mayMakeCgroups(): boolean {
  try {
    accessSync('/sys/fs/cgroup', constants.W_OK)
    return process.getuid?.() === 0
  } catch {
    return false
  }
}

/** Cgroups of pods below a root of our own, which is gone with the test. */
async function setUp(t: TestContext, name: string) {
  const root = `/deckhand-test-${process.pid}-${name}`
  makeCgroup(root)
  t.after(async () => {
    await removeCgroup(systemClock, root, never)
    assert.deepEqual((await cgroupFolders(root)).filter(existsSync), [])
  })
  const files = openCgroupFiles(version)
  const driver = createCgroupfsDriver(files, systemClock)
  const cgroups = createPodCgroups(
    {
      layout: { driver: 'cgroupfs', root, perQos: true },
      driver,
      reader: createCgroupReader(version),
      settings: {
        cpuCfsQuota: true,
        cpuCfsQuotaPeriodMicroseconds: 100_000n,
        podPidsLimit: 100n,
        hugepageSizes: ['2MB'],
        protectsMemory: false,
      },
      hasExclusiveCpus: () => false,
      onChange: () => {},
    },
    never,
  )
  const read = (controller: string, path: string, file: string) =>
    readFileSync(`${files.folderOf(controller, `${root}${path}`)}/${file}`, 'utf8').trim()
  return { root, files, driver, cgroups, read }
}

describe('cgroups of pods in the kernel', { skip: !mayMakeCgroups() }, () => {
  test('have what their pod asks for, as the kernel says it', async (t) => {
    const { cgroups, read } = await setUp(t, 'values')
    const resources = { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } }
    const pod = createPod({ spec: { containers: [createContainer({ resources })] } })
    assert.equal(await cgroups.current(pod), undefined)
    assert.equal(await cgroups.ensure(pod), true)
    const path = '/kubepods/podu-1'
    const values =
      version === 2
        ? [read('cpu', path, 'cpu.weight'), read('cpu', path, 'cpu.max'), read('memory', path, 'memory.max')]
        : [
            read('cpu', path, 'cpu.shares'),
            `${read('cpu', path, 'cpu.cfs_quota_us')} ${read('cpu', path, 'cpu.cfs_period_us')}`,
            read('memory', path, 'memory.limit_in_bytes'),
          ]
    assert.deepEqual(values, [version === 2 ? '79' : '2048', '200000 100000', '1073741824'])
    assert.equal(read('pids', path, 'pids.max'), '100')
    const state = await cgroups.current(pod)
    assert.deepEqual(
      { ...state, memoryUsageBytes: undefined },
      {
        cpuShares: version === 2 ? 2046n : 2048n,
        cpuQuota: 200_000n,
        cpuPeriod: 100_000n,
        memoryLimitBytes: GIB,
        memoryUsageBytes: undefined,
      },
    )
    assert.equal(await cgroups.ensure(pod), false)
    await cgroups.write(pod, { cpuQuota: -1n, memoryLimitBytes: 2n * GIB })
    const changed = await cgroups.current(pod)
    assert.deepEqual(
      [changed?.cpuQuota, changed?.memoryLimitBytes, changed?.cpuShares],
      [-1n, 2n * GIB, state?.cpuShares],
    )
    await cgroups.write(pod, { memoryLimitBytes: -1n })
    assert.equal((await cgroups.current(pod))?.memoryLimitBytes, undefined)
  })

  test('hold a process, and no more of them than allowed', async (t) => {
    const { root, driver, files } = await setUp(t, 'pids')
    await driver.make(`${root}/kubepods/podu-1`, { pidsLimit: 1n })
    const sleeper = spawn('sleep', ['1000'], { stdio: 'ignore' })
    const ended = once(sleeper, 'exit')
    files.addProcess(`${root}/kubepods/podu-1`, Number(sleeper.pid))
    const limited = `${files.folderOf('pids', `${root}/kubepods/podu-1`)}/cgroup.procs`
    // The shell goes in and may then start nothing more.
    const shell = spawn('sh', ['-c', `echo $$ > ${limited}; (exit 7); echo forked`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [[code], text] = await Promise.all([once(shell, 'exit'), readText(shell.stderr)])
    assert.match(text, /[Ff]ork/)
    assert.notEqual(code, 0)
    await driver.remove(`${root}/kubepods/podu-1`, never)
    await ended
    assert.equal(sleeper.signalCode, 'SIGKILL', 'what is in a cgroup goes with it')
  })

  test('are listed with the pods of all classes, and removed with all below', async (t) => {
    const { root, cgroups } = await setUp(t, 'list')
    makeCgroup(`${root}/kubepods/besteffort/podu-1/container`)
    makeCgroup(`${root}/kubepods/podu-2`)
    makeCgroup(`${root}/kubepods/burstable/not-a-pod`)
    assert.deepEqual([...(await cgroups.list())].sort(), ['u-1', 'u-2'])
    await cgroups.remove(uid)
    assert.deepEqual(await cgroups.list(), ['u-2'])
    await cgroups.remove(uid)
  })

  test('of one container are emptied without a harm to others', async (t) => {
    const { root, cgroups, driver, files } = await setUp(t, 'kill')
    const sleepers = ['c-1', 'c-2'].map(() => spawn('sleep', ['1000'], { stdio: 'ignore' }))
    const [lost, kept] = sleepers
    const ends = sleepers.map((sleeper) => once(sleeper, 'exit'))
    for (const [index, sleeper] of sleepers.entries()) {
      const path = `${root}/kubepods/podu-1/c-${index + 1}`
      await driver.make(path, {})
      files.addProcess(path, Number(sleeper.pid))
    }
    await cgroups.killContainer(uid, 'c-1')
    await ends[0]
    assert.deepEqual([lost?.signalCode, kept?.signalCode], ['SIGKILL', null])
    await cgroups.remove(uid)
    await ends[1]
  })
})

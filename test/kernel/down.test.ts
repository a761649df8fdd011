import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { findProcessByCommand } from '../../src/system/processes/find-process-by-command.ts'
import { makeShared } from '../../src/system/mounts/make-shared.ts'
import { mountPointsBelow, readMountTable } from '../../src/system/mounts/mount-table.ts'
import { runProcess, runProcessOrThrow } from '../../src/system/processes/run-process.ts'
import { createContainerdConfig } from '../../src/standalone/node/runtime/containerd-config.ts'
import { runDown } from '../../src/standalone/down.ts'
import { computeNodeLayout } from '../../src/standalone/node/node-layout.ts'
import { takeUpLock } from '../../src/standalone/node/up-lock.ts'
import { inMountNamespace } from './in-mount-namespace.ts'

inMountNamespace(import.meta.filename, () => {
  const { signal } = new AbortController()
  const run = (...argv: string[]) => runProcessOrThrow(systemClock, { argv, deadlineMs: 5000 }, signal)
  const mountTmpfs = async (target: string, ...options: string[]) => {
    await mkdir(target, { recursive: true })
    await run('mount', '-t', 'tmpfs', ...options, 'tmpfs', target)
  }
  const points = async (folder: string) => mountPointsBelow(await readMountTable(), folder).toSorted()

  async function makeFolder(t: TestContext): Promise<string> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'dh-down-')))
    t.after(async () => {
      for (const point of await points(folder))
        await runProcess(systemClock, { argv: ['umount', '--lazy', point], deadlineMs: 5000 }, signal)
      await rm(folder, { recursive: true })
    })
    return folder
  }

  /** As "up" leaves it, with what an agent mounted; no containerd was ever started. */
  async function makeNode(state: string): Promise<void> {
    const { agentRoot, record, podLogs } = computeNodeLayout(state)
    for (const path of [agentRoot, podLogs]) await mkdir(path, { recursive: true })
    const ports = { kubernetes: 4, agent: 1, readOnly: 2, healthz: 3 }
    await writeFile(
      record,
      JSON.stringify({ nodeName: 'n', cgroupRoot: '/deckhand-test-none', manifests: `${state}/manifests`, ports }),
    )
    await makeShared({ clock: systemClock }, agentRoot, signal)
    await mountTmpfs(`${agentRoot}/pods/uid/volumes/v`)
  }

  async function down(state: string, purge: boolean): Promise<readonly string[]> {
    const said: string[] = []
    const openRuntime = () => assert.fail('there is no runtime')
    const deps = { clock: systemClock, say: (line: string) => said.push(line), ownKubelet: [], pid: 1, programPath: '' }
    await runDown({ ...deps, userId: 0, openRuntime }, { state, purge }, signal)
    return said
  }

  async function fill(folder: string): Promise<void> {
    await assert.rejects(writeFile(`${folder}/full`, new Uint8Array(4 * 1024 * 1024)), { code: 'ENOSPC' })
  }

  describe('"down" on a real kernel', () => {
    test("unmounts what the agent mounted, and no disk of the user's", async (t) => {
      const state = join(await makeFolder(t), 'state')
      await mountTmpfs(state)
      await makeNode(state)
      await mountTmpfs(`${state}/extra`)
      await writeFile(`${state}/extra/mine`, '')
      await down(state, false)
      assert.deepEqual(await points(state), [state, `${state}/extra`])
      await assert.rejects(down(state, true), {
        message: `Cannot remove "${state}": "${state}/extra" is still mounted there; unmount it first`,
      })
      assert.deepEqual(await readdir(`${state}/extra`), ['mine'])
      assert.ok(existsSync(`${state}/node.json`))
    })

    test("leaves a user's mount that is seen through a volume", async (t) => {
      const folder = await makeFolder(t)
      const state = join(folder, 'state')
      await makeNode(state)
      const data = join(folder, 'data')
      await mountTmpfs(data)
      await run('mount', '--make-shared', data)
      const volume = `${state}/kubelet/pods/uid/volume-subpaths/v/0`
      await mkdir(volume, { recursive: true })
      await run('mount', '--bind', data, volume)
      await mountTmpfs(`${data}/disk`)
      assert.ok((await points(state)).includes(`${volume}/disk`))
      await down(state, false)
      assert.deepEqual(await points(folder), [data, `${data}/disk`])
    })

    test("purges a state folder that is a disk of the node's files only", async (t) => {
      const state = join(await makeFolder(t), 'state')
      await mountTmpfs(state)
      await makeNode(state)
      await writeFile(`${state}/mine`, '')
      const said = await down(state, true)
      assert.match(said.join('\n'), /the node's files removed; \S+ is kept, it is a mount of its own/)
      assert.deepEqual(await readdir(state), ['mine'])
      assert.deepEqual(await points(state), [state])
    })

    test('starts no containerd where nothing can run, and purges a full disk', async (t) => {
      const state = join(await makeFolder(t), 'state')
      await mountTmpfs(state, '-o', 'size=1m')
      await makeNode(state)
      const { containerd } = computeNodeLayout(state)
      await mkdir(containerd.folder)
      await writeFile(containerd.config, 'not to be read')
      await fill(state)
      await down(state, true)
      assert.deepEqual(await readdir(state), ['full'])
    })

    test('on a full disk a containerd that cannot start is no obstacle, and does not stay', async (t) => {
      const state = join(await makeFolder(t), 'state')
      await mountTmpfs(state, '-o', 'size=1m')
      await makeNode(state)
      const { containerd } = computeNodeLayout(state)
      await mkdir(`${containerd.root}/io.containerd.grpc.v1.cri/sandboxes/1`, { recursive: true })
      await writeFile(
        containerd.config,
        createContainerdConfig(containerd, {
          sandboxImage: 'none',
          snapshotter: 'native',
          ociRuntime: 'runc',
          handlers: ['runc'],
          release: { major: 1, minor: 6 },
        }),
      )
      await fill(state)
      const said = await down(state, true)
      assert.match(said.join('\n'), /Cannot stop pods in good order, they are killed: /)
      assert.equal(await findProcessByCommand(['--config', containerd.config]), undefined)
      assert.deepEqual(await readdir(state), ['full'])
    })

    test('an "up" takes its lock on a full disk, and "down" says that it cannot find it', async (t) => {
      const state = join(await makeFolder(t), 'state')
      await mountTmpfs(state, '-o', 'size=1m')
      await makeNode(state)
      await fill(state)
      await using lock = await takeUpLock(computeNodeLayout(state).upIdentity, process.pid)
      assert.ok(lock)
      await assert.rejects(down(state, false), { message: /^Cannot stop the node: "deckhand up" runs, and / })
    })

    test('purges a state folder that is none whole', async (t) => {
      const state = join(await makeFolder(t), 'state')
      await makeNode(state)
      await down(state, true)
      assert.equal(existsSync(state), false)
    })
  })
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { cgroupFolders } from '../../../src/system/cgroups/cgroup-tree.ts'
import { startLab } from './start-lab.ts'
import type { Lab } from './start-lab.ts'

/** Starts a container without an agent, in the lab's cgroup, and gives its pid as we see it. */
async function runContainer(lab: Lab, name: string): Promise<number> {
  const options = ['--detach', '--cgroup', `${lab.cgroupRoot}/${name}`]
  await lab.containerd.ctr('run', ...options, BUSYBOX_IMAGE, name, 'sleep', '1000')
  const task = (await lab.containerd.tasks()).find(({ id }) => id === name)
  assert.equal(task?.status, 'RUNNING')
  const pid = await lab.outerPid(task.pid)
  assert.ok(pid)
  return pid
}

/** Everything of the machine that a lab may leave behind. */
async function remains(lab: Lab, namespace: string): Promise<readonly string[]> {
  const found = (await cgroupFolders(lab.cgroupRoot)).concat(lab.folder).filter((path) => existsSync(path))
  if ((await readFile('/proc/self/mountinfo', 'utf8')).includes(lab.folder)) found.push('mount')
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const net = await readlink(`/proc/${pid}/ns/net`).catch(() => '')
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (net === namespace || command.includes(lab.folder)) found.push(`process ${pid}: ${command}`)
  }
  return found
}

describe('startLab()', () => {
  test('runs containers in its own network and cgroup and leaves nothing', async () => {
    let lab: Lab
    let namespace: string
    {
      await using running = await startLab()
      lab = running
      const pid = await runContainer(lab, 'one')
      namespace = await readlink(`/proc/${await lab.containerd.pid()}/ns/net`)
      assert.notEqual(namespace, await readlink('/proc/self/ns/net'))
      assert.ok((await readFile(`/proc/${pid}/cgroup`, 'utf8')).includes(`${lab.cgroupRoot}/one`))
      assert.match((await lab.runInside(['ip', 'link', 'show', 'lo'])).stdout, /LOWER_UP/)
      assert.equal((await lab.runInside(['sh', '-c', 'uname -n; umask'])).stdout, 'lab-machine\n0022\n')
      assert.notDeepEqual(await remains(lab, namespace), [])
    }
    assert.deepEqual(await remains(lab, namespace), [])
  })

  test('keeps containers through a kill of containerd', async () => {
    await using lab = await startLab()
    const pid = await runContainer(lab, 'survivor')
    const before = await lab.containerd.pid()
    await lab.containerd.restart()
    assert.notEqual(await lab.containerd.pid(), before)
    const tasks = await lab.containerd.tasks()
    assert.deepEqual(
      tasks.map(({ id, status }) => [id, status]),
      [['survivor', 'RUNNING']],
    )
    assert.equal(await lab.outerPid(tasks[0]?.pid ?? 0), pid)
  })

  test('has room for a second lab, which does not see the first', async () => {
    await using first = await startLab()
    await using second = await startLab()
    const pids = [await runContainer(first, 'same'), await runContainer(second, 'same')]
    assert.notEqual(pids[0], pids[1])
    assert.notEqual(first.cgroupRoot, second.cgroupRoot)
    await first[Symbol.asyncDispose]()
    assert.deepEqual(
      (await second.containerd.tasks()).map(({ id, status }) => [id, status]),
      [['same', 'RUNNING']],
    )
  })

  test('carries HTTP into its network', async () => {
    await using lab = await startLab()
    await lab.runInside(['mkdir', '-p', `${lab.folder}/www`])
    await lab.runInside(['/bin/busybox', 'sh', '-c', `echo hello > ${lab.folder}/www/index.html`])
    await lab.startInside(
      ['/bin/busybox', 'httpd', '-f', '-p', '80', '-h', `${lab.folder}/www`],
      `${lab.folder}/httpd.log`,
    )
    await assert.rejects(lab.network.get('http://127.0.0.1:81/'))
    const answer = await retry(() => lab.network.get('http://127.0.0.1:80/index.html'))
    assert.deepEqual(answer, { status: 200, body: 'hello\n' })
  })

  test('disappears with the process that made it', async () => {
    const child = spawn(process.execPath, [fileURLToPath(new URL('abandoned-lab.ts', import.meta.url))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const lab = JSON.parse(line) as Lab & { namespace: string }
    assert.notDeepEqual(await remains(lab, lab.namespace), [])
    child.kill('SIGKILL')
    await retry(async () => assert.deepEqual(await remains(lab, lab.namespace), []))
  })
})

/** Bounded: for what comes soon but says nothing when it does. */
async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === 500) throw error
      await sleep(10)
    }
  }
}

import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../base/async/clock.ts'
import { startAgent } from './agent/agent-process.ts'
import { findNoted } from './known-process.ts'
import { computeNodeLayout } from './node-layout.ts'
import { runSupervision } from './supervision.ts'

/** A state folder with a program for an agent, supervised with a clock that runs fast. */
async function place(t: TestContext, script: string) {
  const state = await realpath(await mkdtemp(join(tmpdir(), 'dh-test-')))
  t.after(() => rm(state, { recursive: true }))
  const layout = computeNodeLayout(state)
  const kubelet = `${state}/agent`
  await writeFile(kubelet, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  await mkdir(layout.podLogs, { recursive: true })
  const said: string[] = []
  const sleeps: number[] = []
  const stop = new AbortController()
  const clock = {
    ...systemClock,
    sleep: async (ms: number) => {
      sleeps.push(ms)
      await sleep(1)
      stop.signal.throwIfAborted()
    },
  }
  const say = (line: string) => said.push(line)
  const deps = { clock, say, ownKubelet: [kubelet], pid: process.pid, programPath: '', userId: 0 }
  const node = { layout, nodeName: 'n', addresses: [], privateRuntime: false, kubelet: [kubelet] }
  return { layout, kubelet, said, sleeps, stop, deps, node }
}

test('an agent that does not want to run says why, once', async (t) => {
  const script = 'echo "I1116 starting" >&2; printf "Cannot use the configuration:\\n  maxPods: no\\n" >&2; exit 1'
  const { said, stop, deps, node } = await place(t, script)
  const agent = await startAgent(deps, node, node.kubelet).catch(() => undefined)
  const first = agent ?? { pid: 0, startedAtMs: 0, exit: () => ({ exitCode: 1, signal: undefined }) }
  const supervision = runSupervision(deps, node, first, stop.signal)
  while (said.filter((line) => line.startsWith('the agent ended')).length < 3) await sleep(1)
  stop.abort(new Error('enough'))
  await assert.rejects(supervision, { message: 'enough' })
  const faults = said.filter((line) => line.startsWith('Cannot use'))
  assert.deepEqual(faults, ['Cannot use the configuration:\n  maxPods: no'])
})

test('an agent that the disk does not let be noted runs on, is reported once, and noted later', async (t) => {
  const { layout, kubelet, said, sleeps, stop, deps, node } = await place(t, 'exec tail -f /dev/null')
  // In the way of the file, as a full disk is.
  await mkdir(`${layout.agentIdentity}.new`)
  const agent = await startAgent(deps, { layout, nodeName: 'n' }, [kubelet])
  t.after(() => process.kill(agent.pid, 'SIGKILL'))
  const supervision = runSupervision(deps, node, agent, stop.signal)
  while (sleeps.length < 5) await sleep(1)
  assert.equal(said.length, 1)
  assert.match(said[0] ?? '', new RegExp(`^Cannot note process ${agent.pid} in "${layout.agentIdentity}": `))
  assert.equal(agent.exit(), undefined)
  await rmdir(`${layout.agentIdentity}.new`)
  while ((await findNoted(layout.agentIdentity)) === undefined) await sleep(1)
  assert.equal((await findNoted(layout.agentIdentity))?.pid, agent.pid)
  stop.abort(new Error('enough'))
  await assert.rejects(supervision, { message: 'enough' })
})

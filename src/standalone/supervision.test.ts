import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../async/clock.ts'
import { startAgent } from './agent-process.ts'
import { findNoted } from './known-process.ts'
import { computeNodeLayout } from './node-layout.ts'
import { runSupervision } from './supervision.ts'

test('an agent that the disk does not let be noted runs on, is told of once, and noted later', async (t) => {
  const state = await realpath(await mkdtemp(join(tmpdir(), 'dh-test-')))
  t.after(() => rm(state, { recursive: true }))
  const layout = computeNodeLayout(state)
  const kubelet = `${state}/agent`
  await writeFile(kubelet, '#!/bin/sh\nexec tail -f /dev/null\n', { mode: 0o755 })
  // In the way of the file, as a full disk is.
  for (const path of [layout.podLogs, `${layout.agentIdentity}.new`]) await mkdir(path, { recursive: true })
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
  const deps = { clock, say, ownKubelet: kubelet, pid: process.pid, programPath: '', userId: 0 }
  const agent = await startAgent(deps, { layout, nodeName: 'n' }, kubelet)
  t.after(() => process.kill(agent.pid, 'SIGKILL'))
  const supervision = runSupervision(
    deps,
    { layout, nodeName: 'n', privateRuntime: false, kubelet },
    agent,
    stop.signal,
  )
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

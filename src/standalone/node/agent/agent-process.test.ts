import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { computeNodeLayout } from '../node-layout.ts'
import { waitUntilHealthy } from './agent-process.ts'

const signal = new AbortController().signal

/** An agent that is healthy from a moment on; time passes only while it is waited for. */
async function startAgent(t: TestContext, healthyAfterMs: number, exit: { readonly exitCode: number } | undefined) {
  let now = 0
  const server = createServer((_, response) => {
    response.writeHead(now >= healthyAfterMs ? 200 : 500, { connection: 'close' }).end()
  }).listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  const said: string[] = []
  const layout = computeNodeLayout(makeTemporaryFolder())
  const agentLog = join(makeTemporaryFolder(), 'kubelet.log')
  writeFileSync(agentLog, 'first\nlast\n')
  const clock = {
    now: () => now,
    monotonic: () => now,
    async sleep(ms: number) {
      // Many steps of a long wait at once.
      now += ms * 20
    },
  }
  const wait = () =>
    waitUntilHealthy(
      {
        clock,
        say: (line: string) => void said.push(line),
        ownKubelet: [],
        pid: 1,
        programPath: '',
        userId: 0,
      },
      {
        agent: {
          pid: 7,
          startedAtMs: 0,
          exit: () => (exit === undefined ? undefined : { ...exit, signal: undefined }),
        },
        layout: { ...layout, agentLog },
        record: { ports: { healthz: (server.address() as AddressInfo).port } } as never,
      },
      signal,
    )
  return { wait, said, agentLog }
}

describe('waitUntilHealthy()', () => {
  test('waits for an agent that takes minutes to start, and says so', async (t) => {
    const { wait, said, agentLog } = await startAgent(t, 200_000, undefined)
    await wait()
    assert.deepEqual(said, [`agent not healthy yet (pid 7), still waiting; its log is ${agentLog}`])
  })

  test('says nothing about one that is healthy soon', async (t) => {
    const { wait, said } = await startAgent(t, 1000, undefined)
    await wait()
    assert.deepEqual(said, [])
  })

  test('fails with the end of its log when it has ended, and when it is not healthy after five minutes', async (t) => {
    const ended = await startAgent(t, Infinity, { exitCode: 1 })
    await assert.rejects(
      ended.wait(),
      /^NodeError: Cannot start the agent: it ended \(exit code 1\)\. .* ends:\n  first\n  last$/,
    )
    const late = await startAgent(t, Infinity, undefined)
    await assert.rejects(late.wait(), /^NodeError: Cannot start the agent: not healthy after 300000 ms\./)
  })
})

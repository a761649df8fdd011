import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { ShimProcess } from '../../system/processes/find-shims.ts'
import { runShimCollection } from './run-shim-collection.ts'
import type { ShimCollectionDeps } from './run-shim-collection.ts'

const PERIOD_MS = 360_000

const processOf = (pid: number) => ({ pid, startTicks: pid * 10, bootId: 'b' })
const shimOf = (pid: number, id: string, children: ShimProcess['children'] = []): ShimProcess => ({
  process: processOf(pid),
  id,
  children,
})
const notFound = async (): Promise<never> => {
  throw new CriCallError('call', 'NotFound', 'no such thing')
}

interface Runtime {
  readonly shims: () => readonly ShimProcess[]
  readonly records?: readonly string[]
  readonly sandboxes?: readonly string[]
  readonly containers?: readonly string[]
  readonly has?: ShimCollectionDeps['calls']['containerdHas']
}

/** Runs rounds of the collection and returns the pids that were killed. */
async function collect(rounds: number, { shims, records = [], sandboxes = [], containers = [], has }: Runtime) {
  const clock = new FakeClock()
  const killed: number[] = []
  const answer = (ids: readonly string[], id: string | undefined) => (ids.includes(id ?? '') ? {} : notFound())
  const calls = {
    containerdHas: has ?? (async (id: string) => records.includes(id)),
    podSandboxStatus: async ({ podSandboxId }: { podSandboxId?: string }) => answer(sandboxes, podSandboxId),
    containerStatus: async ({ containerId }: { containerId?: string }) => answer(containers, containerId),
  } as unknown as ShimCollectionDeps['calls']
  const looked: unknown[] = []
  const host = {
    findShims: async (where: unknown) => {
      looked.push(where)
      return shims()
    },
    killProcess: async ({ pid }: { pid: number }) => {
      killed.push(pid)
      return true
    },
  }
  const stop = new AbortController()
  const run = runShimCollection(
    {
      calls,
      runtime: { name: 'containerd' },
      runtimeEndpoint: 'unix:///run/c.sock',
      host,
      requestTimeoutMs: 120_000,
      clock,
      log: silentLogger,
    },
    stop.signal,
  )
  run.catch(() => {})
  for (let round = 0; round < rounds; round += 1) await clock.advance(PERIOD_MS)
  stop.abort(new Error('over'))
  await assert.rejects(run, /over/)
  for (const where of looked) assert.deepEqual(where, { socketPath: '/run/c.sock', namespace: 'k8s.io' })
  return killed
}

describe('runShimCollection()', () => {
  test('ends a shim that the runtime does not know in two rounds, with what runs below it', async () => {
    const shims = () => [shimOf(7, 'lost', [{ process: processOf(8), containerId: 'inner' }])]
    assert.deepEqual(await collect(1, { shims }), [])
    assert.deepEqual(await collect(2, { shims }), [8, 7])
  })

  for (const [name, runtime] of [
    ['containerd has a record or a task of it', { records: ['s'] }],
    ['CRI has a sandbox of its id', { sandboxes: ['s'] }],
    ['CRI has a container of its id', { containers: ['s'] }],
  ] as const) {
    test(`leaves one alone while ${name}`, async () => {
      assert.deepEqual(await collect(4, { shims: () => [shimOf(7, 's')], ...runtime }), [])
    })
  }

  test('leaves one alone whose child belongs to a known container, or to one that is not clear', async () => {
    const known = () => [shimOf(7, 'lost', [{ process: processOf(8), containerId: 'c' }])]
    assert.deepEqual(await collect(4, { shims: known, records: ['c'] }), [])
    const unclear = () => [shimOf(7, 'lost', [{ process: processOf(8), containerId: undefined }])]
    assert.deepEqual(await collect(4, { shims: unclear }), [])
  })

  test('looks for none of a runtime that has no shims', async () => {
    const host = { findShims: () => assert.fail(), killProcess: () => assert.fail() }
    const runtime = { name: 'cri-o' }
    const calls = {} as ShimCollectionDeps['calls']
    const rest = { requestTimeoutMs: 1, clock: new FakeClock(), log: silentLogger }
    const given = { calls, runtime, runtimeEndpoint: 'unix:///run/c.sock', host, ...rest }
    await runShimCollection(given, new AbortController().signal)
  })

  test('a pid that another process has got in the meantime is no proof', async () => {
    let ticks = 0
    const shims = () => [{ ...shimOf(7, 'lost'), process: { ...processOf(7), startTicks: (ticks += 1) } }]
    assert.deepEqual(await collect(5, { shims }), [])
  })

  test('a runtime that does not answer clears nobody and condemns nobody', async () => {
    let asked = 0
    const has = async () => {
      asked += 1
      if (asked % 2 === 0) throw new CriCallError('call', 'Unavailable', 'away')
      return false
    }
    assert.deepEqual(await collect(6, { shims: () => [shimOf(7, 'lost')], has }), [])
    assert.equal(asked, 6)
  })
})

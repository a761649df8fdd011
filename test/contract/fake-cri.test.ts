import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createCriClient } from '../../src/protocols/cri/cri-client.ts'
import { fetchRuntimeStatus } from '../../src/protocols/cri/runtime-status.ts'
import { FakeClock } from '../fakes/fake-clock.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { ContractPod } from './contract-pod.ts'
import { FakeCri } from '../fakes/fake-cri.ts'
import type { FakeCriOptions } from '../fakes/fake-cri.ts'
import { fakeProgramOf } from './contract-programs.ts'
import { describeContract } from './run-contract.ts'
import type { RuntimeUnderTest } from './containerd-under-test.ts'

const IMAGE = 'localhost/deckhand/busybox:1'

async function startFake(): Promise<RuntimeUnderTest> {
  const options: FakeCriOptions = {
    images: [IMAGE],
    writeLogs: true,
    programOf: ({ command }) => fakeProgramOf(command),
    onExec: (_, [program]) => {
      if (program === 'sleep') return 'hang'
      return program === 'sh' ? { stdout: 'out\n', stderr: 'err\n', exitCode: 4 } : {}
    },
  }
  const fake = await FakeCri.start(options)
  return {
    endpoint: fake.endpoint,
    image: IMAGE,
    cgroupParent: '/contract',
    [Symbol.asyncDispose]: () => fake[Symbol.asyncDispose](),
  }
}

describeContract('FakeCri', startFake)

describe('FakeCri lets a test', () => {
  const connect = ({ endpoint }: FakeCri) =>
    createCriClient({ runtimeEndpoint: endpoint, requestTimeoutMs: 10_000, clock: new FakeClock(), log: silentLogger })
  const subjectOf = (fake: FakeCri, logs = '/logs') => ({
    client: connect(fake),
    image: IMAGE,
    cgroupParent: '/',
    cannotStart: { exitCode: 128, reason: 'StartError' },
    logs,
  })

  test('end a container as it likes', async ({ signal }) => {
    await using fake = await FakeCri.start({ images: [IMAGE] })
    const subject = subjectOf(fake)
    const pod = await ContractPod.run(subject, 'exit', signal)
    const containerId = await pod.start('main', 'waitsForTerm')
    fake.exitContainer(containerId, 137, 'OOMKilled')
    const { exitCode, reason } = await pod.containerStatus(containerId)
    assert.deepEqual([exitCode, reason], [137, 'OOMKilled'])
    subject.client.close()
  })

  test('make the runtime or its network unready', async ({ signal }) => {
    await using fake = await FakeCri.start()
    using client = connect(fake)
    fake.setNetworkReady(false)
    fake.setRuntimeReady(false)
    const { runtimeReady, networkReady } = await fetchRuntimeStatus(client, signal)
    assert.deepEqual(
      [runtimeReady?.status, networkReady?.status, networkReady?.reason],
      [false, false, 'NetworkPluginNotReady'],
    )
  })

  test('write logs and usage', async ({ signal }) => {
    const logs = mkdtempSync(join(tmpdir(), 'fake-logs-'))
    await using fake = await FakeCri.start({ images: [IMAGE], writeLogs: true, clock: new FakeClock() })
    const subject = subjectOf(fake, logs)
    const pod = await ContractPod.run(subject, 'log', signal)
    const containerId = await pod.start('main', 'succeeds')
    fake.log(containerId, 'hello')
    fake.log(containerId, 'oh', 'stderr')
    fake.setUsage(containerId, { cpuNanoseconds: 5n, workingSetBytes: 6n })
    const { logPath } = await pod.containerStatus(containerId)
    assert.equal(
      readFileSync(logPath, 'utf8'),
      '2026-01-01T00:00:00.000000000Z stdout F hello\n2026-01-01T00:00:00.000000000Z stderr F oh\n',
    )
    const { stats } = await subject.client.containerStats({ containerId }, signal)
    assert.deepEqual([stats?.cpu?.usageCoreNanoSeconds?.value, stats?.memory?.workingSetBytes?.value], [5n, 6n])
    subject.client.close()
    rmSync(logs, { recursive: true })
  })

  test('plan failures and delays', async ({ signal }) => {
    const clock = new FakeClock()
    await using fake = await FakeCri.start({ clock })
    using client = connect(fake)
    fake.script.fail('version', 'Internal', 'broken', 1)
    await assert.rejects(client.version({}, signal), { code: 'Internal', detail: 'broken' })
    fake.script.delay('version', 1000)
    const answer = client.version({}, signal)
    while (clock.sleeping === 0) await setImmediate()
    await clock.advance(1000)
    assert.equal((await answer).runtimeName, 'fake')
    fake.script.heal('version')
    await client.version({}, signal)
    assert.equal(fake.requests('version').length, 3)
  })
})

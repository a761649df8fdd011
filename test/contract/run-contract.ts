import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/base/async/clock.ts'
import { connectRuntime } from '../../src/protocols/runtime/connect-runtime.ts'
import type { CriClient } from '../../src/protocols/cri/cri-client.ts'
import { PAUSE_IMAGES } from '../../src/protocols/docker/pause-images.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { criContract } from './cri-contract.ts'
import type { RuntimeUnderTest } from './containerd-under-test.ts'

// An emulated machine sets it: limits are so many times as long there.
const SLOWNESS = Number(process.env['DECKHAND_TEST_SLOWNESS'] ?? 1)
const CASE_TIMEOUT_MS = 30_000 * SLOWNESS
const REQUEST_TIMEOUT_MS = 20_000 * SLOWNESS

/** Declares the contract's cases as tests of one runtime. */
export function describeContract(name: string, start: () => Promise<RuntimeUnderTest>): void {
  describe(`${name} keeps the CRI contract`, { concurrency: false }, () => {
    let runtime: RuntimeUnderTest
    let client: CriClient
    const logs = mkdtempSync(join(tmpdir(), 'contract-logs-'))

    before(async () => {
      runtime = await start()
      const { endpoint } = runtime
      const options = {
        runtimeEndpoint: endpoint,
        pauseImages: PAUSE_IMAGES,
        logLimits: { maxSizeBytes: -1, maxFiles: 1 },
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        clock: systemClock,
        log: silentLogger,
      }
      client = await connectRuntime(options, new AbortController().signal)
    })

    after(async () => {
      client?.close()
      await runtime?.[Symbol.asyncDispose]()
      rmSync(logs, { recursive: true, force: true })
    })

    for (const [name, run] of Object.entries(criContract)) {
      test(name, { timeout: CASE_TIMEOUT_MS }, async ({ signal }) => {
        const { image, cgroupParent, cannotStart = { exitCode: 128, reason: 'StartError' } } = runtime
        await run({ client, image, cgroupParent, cannotStart, logs }, signal)
      })
    }
  })
}

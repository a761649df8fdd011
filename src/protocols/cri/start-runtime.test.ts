import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { loadFields } from '../../../test/fakes/load-settings.ts'
import type { Settings } from '../../model/config/load-configuration.ts'
import { CriCallError } from './cri-call-error.ts'
import type { CallErrorCode } from '../grpc/grpc-call-error.ts'
import type { CriClient } from './cri-client.ts'
import { CgroupDriver } from './generated/runtime-v1.ts'
import { findCgroupDriver, startRuntime } from './start-runtime.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

const never = new AbortController().signal

async function setUp(client: Partial<Record<'version' | 'imageFsInfo' | 'runtimeConfig', () => Promise<unknown>>>) {
  const clock = new FakeClock()
  const lines: string[] = []
  const say = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  const log: Logger = {
    error: say('error'),
    warn: say('warn'),
    info: say('info'),
    debug: say('debug'),
    child: () => log,
  }
  const settings: Settings = await loadFields({ runtimeRequestTimeout: '10s', cgroupDriver: 'systemd' })
  return { clock, lines, deps: { client: client as unknown as CriClient, settings, clock, log } }
}

const version = async () => ({ version: '0.1.0', runtimeName: 'fake', runtimeVersion: '1', runtimeApiVersion: 'v1' })
const fail =
  (code: CallErrorCode, detail = 'planned') =>
  async (): Promise<never> => {
    throw new CriCallError('call', code, detail)
  }

describe('startRuntime()', () => {
  test('says who answers', async () => {
    const { deps, lines } = await setUp({ version, imageFsInfo: async () => ({}) })
    assert.deepEqual(await startRuntime(deps, never), { name: 'fake', version: '1', apiVersion: 'v1' })
    assert.deepEqual(lines, ['info runtime answers'])
  })

  test('waits for a runtime that starts, and says so once', async () => {
    for (const starting of [fail('Unavailable'), fail('Unknown', 'server is not initialized yet')]) {
      let tries = 0
      const imageFsInfo = async () => {
        tries += 1
        return tries <= 5 ? await starting() : {}
      }
      const { deps, clock, lines } = await setUp({ version, imageFsInfo })
      const started = startRuntime(deps, never)
      await clock.advance(1000)
      assert.equal((await started).name, 'fake')
      assert.deepEqual(lines, ['warn runtime does not answer yet, waiting', 'info runtime answers'])
      assert.equal(clock.sleeping, 0)
    }
  })

  test('gives up on one that does not come in time', async () => {
    const { deps, clock } = await setUp({ version: fail('Unavailable', 'no such file') })
    const started = assert.rejects(startRuntime(deps, never), (error: Error) => {
      assert.match(error.message, /^Cannot use the container runtime at "unix:/)
      assert.match((error.cause as Error).message, /no such file/)
      return true
    })
    await clock.advance(10_200)
    await started
  })

  test('gives up at once on one that speaks another language', async () => {
    const { deps, clock } = await setUp({ version: fail('Unimplemented') })
    await assert.rejects(startRuntime(deps, never), /Cannot use the container runtime/)
    assert.equal(clock.sleeping, 0)
  })

  test('ends with its signal', async () => {
    const { deps, clock } = await setUp({ version: fail('Unavailable') })
    const stop = new AbortController()
    const reason = new Error('leave')
    const started = assert.rejects(startRuntime(deps, stop.signal), reason)
    await clock.advance(300)
    stop.abort(reason)
    await started
  })
})

describe('findCgroupDriver()', () => {
  const answers: readonly (readonly [string, () => Promise<unknown>, string])[] = [
    ['what the runtime says', async () => ({ linux: { cgroupDriver: CgroupDriver.CGROUPFS } }), 'cgroupfs'],
    ['what the runtime says', async () => ({ linux: { cgroupDriver: CgroupDriver.SYSTEMD } }), 'systemd'],
    ['the configured one when it says nothing', async () => ({}), 'systemd'],
    ['the configured one when it does not know', fail('Unimplemented'), 'systemd'],
  ]
  for (const [name, runtimeConfig, expected] of answers) {
    test(`is ${name}: ${expected}`, async () => {
      const { deps } = await setUp({ runtimeConfig })
      let isOld = false
      assert.equal(await findCgroupDriver({ ...deps, onOld: () => (isOld = true) }, never), expected)
      assert.equal(isOld, name.endsWith('does not know'))
    })
  }

  test('asks three times', async () => {
    let asked = 0
    const runtimeConfig = async () => {
      asked += 1
      return await fail('Unknown')()
    }
    const { deps, clock } = await setUp({ runtimeConfig })
    const found = assert.rejects(
      findCgroupDriver({ ...deps, onOld: () => {} }, never),
      /Cannot ask the runtime for its cgroup driver/,
    )
    await clock.advance(4000)
    await found
    assert.equal(asked, 3)
  })
})

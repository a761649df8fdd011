import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { criServices } from './cri-methods.ts'
import type { CriCalls } from './cri-calls.ts'
import { CriCallError } from './cri-call-error.ts'
import { measureCalls } from './measure-calls.ts'
import type { MeasuredCall } from './measure-calls.ts'

// As dashboards and alerts for the Go kubelet have them.
const GO_OPERATIONS =
  'version status create_container start_container stop_container remove_container list_containers container_status update_container reopen_container_log exec_sync exec attach port_forward run_podsandbox stop_podsandbox remove_podsandbox podsandbox_status list_podsandbox container_stats list_container_stats podsandbox_stats list_podsandbox_stats update_podsandbox_resources update_runtime_config list_images image_status pull_image remove_image image_fs_info checkpoint_container list_metric_descriptors list_podsandbox_metrics runtime_config'.split(
    ' ',
  )
const never = new AbortController().signal

function setUp(calls: Record<string, unknown>) {
  const clock = new FakeClock()
  const reported: MeasuredCall[] = []
  const measured = measureCalls(calls as unknown as CriCalls, { clock, onCall: (call) => reported.push(call) })
  return {
    clock,
    reported,
    measured: measured as unknown as Record<string, (request: object, signal: AbortSignal) => unknown>,
  }
}

describe('measureCalls()', () => {
  test('names every call as the Go kubelet does', async () => {
    const methods = { ...criServices.runtime.methods, ...criServices.image.methods }
    const names = Object.entries(methods).flatMap(([name, { responseStream }]) => (responseStream ? [] : [name]))
    const { measured, reported } = setUp(Object.fromEntries(names.map((name) => [name, async () => ({})])))
    for (const name of names) await measured[name]?.({}, never)
    const operations = new Set(reported.map(({ operation }) => operation))
    assert.deepEqual(
      GO_OPERATIONS.filter((operation) => !operations.has(operation)),
      [],
    )
  })

  test('reports how long each call took and whether it failed, and changes nothing about it', async () => {
    const failure = new Error('no')
    const { clock, reported, measured } = setUp({
      version: async (request: object, signal: AbortSignal) => {
        await clock.sleep(250, signal)
        return request
      },
      status: async () => {
        throw failure
      },
    })
    const request = {}
    const version = measured['version']?.(request, never)
    await clock.advance(250)
    assert.equal(await version, request)
    await assert.rejects(measured['status']?.({}, never) as Promise<unknown>, failure)
    assert.deepEqual(reported, [
      { operation: 'version', seconds: 0.25, failed: false, abandoned: false },
      { operation: 'status', seconds: 0, failed: true, abandoned: false },
    ])
  })

  test('says which calls were given up: the runtime may be at them still', async () => {
    const { clock, reported, measured } = setUp({
      execSync: (_: object, signal: AbortSignal) => clock.sleep(1000, signal),
      stopContainer: () => Promise.reject(new CriCallError('stopContainer', 'DeadlineExceeded', 'late')),
    })
    const caller = new AbortController()
    const exec = assert.rejects(measured['execSync']?.({}, caller.signal) as Promise<unknown>)
    caller.abort(new Error('the probe has timed out'))
    await exec
    await assert.rejects(measured['stopContainer']?.({}, never) as Promise<unknown>)
    assert.deepEqual(
      reported.map(({ operation, abandoned }) => [operation, abandoned]),
      [
        ['exec_sync', true],
        ['stop_container', true],
      ],
    )
  })

  test('leaves streams and all that is no call as they are', () => {
    const stream = (async function* () {})()
    const connection = {}
    const dispose = () => {}
    const { measured, reported } = setUp({ getContainerEvents: () => stream, connection, [Symbol.dispose]: dispose })
    assert.equal(measured['getContainerEvents']?.({}, never), stream)
    assert.equal(measured['connection'], connection)
    assert.equal((measured as unknown as Disposable)[Symbol.dispose], dispose)
    assert.deepEqual(reported, [])
  })
})

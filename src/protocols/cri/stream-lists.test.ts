import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { CriCallError } from './cri-call-error.ts'
import type { CriCalls } from './cri-calls.ts'
import { streamLists } from './stream-lists.ts'

const never = new AbortController().signal
const LISTS = [
  ['listPodSandbox', 'items', 'streamPodSandboxes', 'podSandboxes'],
  ['listContainers', 'containers', 'streamContainers', 'containers'],
  ['listContainerStats', 'stats', 'streamContainerStats', 'containerStats'],
  ['listPodSandboxStats', 'stats', 'streamPodSandboxStats', 'podSandboxStats'],
  ['listPodSandboxMetrics', 'podMetrics', 'streamPodSandboxMetrics', 'podSandboxMetrics'],
  ['listImages', 'images', 'streamImages', 'images'],
] as const

type AnyCall = (request: object, signal: AbortSignal) => unknown

function setUp(stream: (part: string) => AsyncIterable<object>) {
  const asked: string[] = []
  const said: string[] = []
  const calls = Object.fromEntries(
    LISTS.flatMap(([list, items, streaming, part]): [string, AnyCall][] => [
      [list, async (request) => (asked.push(list), { [items]: ['whole', request] })],
      [streaming, (request) => (asked.push(`${streaming} ${JSON.stringify(request)}`), stream(part))],
    ]),
  )
  const log = {
    ...silentLogger,
    info: (message: string) => void said.push(message),
    error: (message: string, fields?: object) => void said.push(`${message} ${JSON.stringify(fields)}`),
  }
  const lists = streamLists(calls as unknown as CriCalls, { log }) as unknown as Record<string, AnyCall>
  return { lists, asked, said }
}

describe('streamLists()', () => {
  for (const [list, items, streaming, part] of LISTS) {
    test(`${list} is the sum of its parts`, async () => {
      const { lists, asked } = setUp(async function* (name) {
        yield { [name]: [1, 2] }
        yield { [name]: [3] }
      })
      assert.deepEqual(await lists[list]?.({ filter: { id: part } }, never), { [items]: [1, 2, 3] })
      assert.deepEqual(asked, [`${streaming} ${JSON.stringify({ filter: { id: part } })}`])
    })
  }

  test('asks for whole lists from then on when the runtime has no streams, and says so once', async () => {
    const { lists, asked, said } = setUp(async function* () {
      yield* []
      throw new CriCallError('streamContainers', 'Unimplemented', 'unknown method')
    })
    const request = { filter: {} }
    await Promise.all([lists['listContainers']?.(request, never), lists['listImages']?.(request, never)])
    assert.deepEqual(await lists['listPodSandbox']?.(request, never), { items: ['whole', request] })
    assert.deepEqual(asked.slice(2).sort(), ['listContainers', 'listImages', 'listPodSandbox'])
    assert.equal(said.length, 1)
  })

  test('is not a part of a list when the stream breaks, and says how far it came', async () => {
    const { lists, said } = setUp(async function* () {
      yield { containers: [1] }
      throw new CriCallError('streamContainers', 'Unavailable', 'gone')
    })
    await assert.rejects(async () => await lists['listContainers']?.({}, never), { code: 'Unavailable' })
    assert.equal(said.length, 1)
    assert.match(said[0] ?? '', /^StreamContainers recv failed \{"itemsReceived":1,/)
  })

  test('says nothing of a stream that was given up', async () => {
    const controller = new AbortController()
    const { lists, said } = setUp(async function* () {
      yield* []
      controller.abort(new Error('enough'))
      throw controller.signal.reason
    })
    await assert.rejects(async () => await lists['listContainers']?.({}, controller.signal), { message: 'enough' })
    assert.deepEqual(said, [])
  })
})

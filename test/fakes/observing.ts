import assert from 'node:assert/strict'
import { createCriClient } from '../../src/protocols/cri/cri-client.ts'
import { Observer } from '../../src/pods/observe/observer.ts'
import type { RuntimeView } from '../../src/pods/observe/read-pod.ts'
import { FakeClock } from './fake-clock.ts'
import { FAKE_IMAGE } from './fake-cri-pods.ts'
import { FakeCri } from './fake-cri.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'

/** An observer of a fake; `wrap` may stand between them. */
export async function observing(wrap: (runtime: RuntimeView) => RuntimeView = (runtime) => runtime) {
  const clock = new FakeClock(1000)
  const fake = await FakeCri.start({ clock, images: [FAKE_IMAGE] })
  const client = createCriClient({ runtimeEndpoint: fake.endpoint, requestTimeoutMs: 1000, clock, log: silentLogger })
  const changes: string[] = []
  const omitted: string[] = []
  const tooLarge = { count: 0 }
  const controller = new AbortController()
  const observer = new Observer(
    {
      runtime: wrap(client),
      clock,
      onChange: (uid) => void changes.push(uid),
      onOmitted: (ids) => void omitted.push(...ids),
      onTooLarge: () => void (tooLarge.count += 1),
    },
    controller.signal,
  )
  return {
    fake,
    clock,
    observer,
    changes,
    /** What lists left out. */
    omitted,
    /** How often lists were too large. */
    tooLarge,
    /** The calls since this was last read. */
    calls: () => fake.called.splice(0).map(({ method }) => method),
    async [Symbol.asyncDispose]() {
      assert.equal(clock.sleeping, 0)
      client.close()
      await fake[Symbol.asyncDispose]()
    },
  }
}

/** Holds back the answers to the lists of everything, once they are made. */
export function slowRelists() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  let made = 0
  const late = async <T>(reply: Promise<T>): Promise<T> => {
    const answerMade = await reply
    made += 1
    if (made === 2) answer()
    await promise
    return answerMade
  }
  const wrap = (runtime: RuntimeView): RuntimeView => ({
    ...runtime,
    listPodSandbox: (request, signal) =>
      request.filter === undefined
        ? late(runtime.listPodSandbox(request, signal))
        : runtime.listPodSandbox(request, signal),
    listContainers: (request, signal) =>
      request.filter === undefined
        ? late(runtime.listContainers(request, signal))
        : runtime.listContainers(request, signal),
  })
  return { wrap, answered, release: resolve }
}

import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { CriCallError } from './cri-call-error.ts'
import type { CriCalls } from './cri-calls.ts'

type Lists =
  | 'listPodSandbox'
  | 'listContainers'
  | 'listContainerStats'
  | 'listPodSandboxStats'
  | 'listPodSandboxMetrics'
  | 'listImages'

/**
 * The same calls, with lists read as streams of parts: a list may be longer than the largest message. A runtime that has no such streams is asked
 * in the old way from then on. Parity: the gate CRIListStreaming.
 */
export function streamLists<T extends CriCalls>(calls: T, { log }: { readonly log: Logger }): T {
  let streams = true
  const orWhole = async <R>(parts: () => Promise<R>, whole: () => Promise<R>): Promise<R> => {
    if (!streams) return await whole()
    try {
      return await parts()
    } catch (error) {
      if (!(error instanceof CriCallError) || error.code !== 'Unimplemented') throw error
      if (streams) log.info('the runtime has no streams of lists, asking for whole lists', { why: errorMessage(error) })
      streams = false
      return await whole()
    }
  }
  const lists: Pick<CriCalls, Lists> = {
    listPodSandbox: (request, signal) =>
      orWhole(
        async () => ({
          items: await collect(calls.streamPodSandboxes(request, signal), ({ podSandboxes }) => podSandboxes),
        }),
        () => calls.listPodSandbox(request, signal),
      ),
    listContainers: (request, signal) =>
      orWhole(
        async () => ({
          containers: await collect(calls.streamContainers(request, signal), ({ containers }) => containers),
        }),
        () => calls.listContainers(request, signal),
      ),
    listContainerStats: (request, signal) =>
      orWhole(
        async () => ({
          stats: await collect(calls.streamContainerStats(request, signal), ({ containerStats }) => containerStats),
        }),
        () => calls.listContainerStats(request, signal),
      ),
    listPodSandboxStats: (request, signal) =>
      orWhole(
        async () => ({
          stats: await collect(calls.streamPodSandboxStats(request, signal), ({ podSandboxStats }) => podSandboxStats),
        }),
        () => calls.listPodSandboxStats(request, signal),
      ),
    listPodSandboxMetrics: (request, signal) =>
      orWhole(
        async () => ({
          podMetrics: await collect(
            calls.streamPodSandboxMetrics(request, signal),
            ({ podSandboxMetrics }) => podSandboxMetrics,
          ),
        }),
        () => calls.listPodSandboxMetrics(request, signal),
      ),
    listImages: (request, signal) =>
      orWhole(
        async () => ({ images: await collect(calls.streamImages(request, signal), ({ images }) => images) }),
        () => calls.listImages(request, signal),
      ),
  }
  return { ...calls, ...lists }
}

async function collect<P, I>(parts: AsyncIterable<P>, itemsOf: (part: P) => readonly I[]): Promise<I[]> {
  const items: I[] = []
  for await (const part of parts) items.push(...itemsOf(part))
  return items
}

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

interface Stream<P, I> {
  readonly parts: AsyncIterable<P>
  readonly itemsOf: (part: P) => readonly I[]
}

/**
 * The same calls, with lists read as streams of parts: a list may be longer than the largest message. A runtime that has no such streams is asked
 * in the old way from then on. A stream that breaks is no list, however much of it came. Parity: the gate CRIListStreaming.
 */
export function streamLists<T extends CriCalls>(calls: T, { log }: { readonly log: Logger }): T {
  let streams = true
  const orWhole = async <R>(parts: () => Promise<R>, whole: () => Promise<R>): Promise<R> => {
    if (!streams) return await whole()
    try {
      return await parts()
    } catch (error) {
      if (!hasNoStreams(error)) throw error
      if (streams) log.info('the runtime has no streams of lists, asking for whole lists', { why: errorMessage(error) })
      streams = false
      return await whole()
    }
  }
  const collect = async <P, I>(name: string, from: Stream<P, I>, signal: AbortSignal): Promise<I[]> => {
    const items: I[] = []
    try {
      for await (const part of from.parts) items.push(...from.itemsOf(part))
      return items
    } catch (error) {
      if (!signal.aborted && !hasNoStreams(error))
        log.error(`${name} recv failed`, { itemsReceived: items.length, error })
      throw error
    }
  }
  const lists: Pick<CriCalls, Lists> = {
    listPodSandbox: (request, signal) =>
      orWhole(
        async () => {
          const parts = calls.streamPodSandboxes(request, signal)
          return { items: await collect('StreamPodSandboxes', { parts, itemsOf: (part) => part.podSandboxes }, signal) }
        },
        () => calls.listPodSandbox(request, signal),
      ),
    listContainers: (request, signal) =>
      orWhole(
        async () => {
          const parts = calls.streamContainers(request, signal)
          return {
            containers: await collect('StreamContainers', { parts, itemsOf: (part) => part.containers }, signal),
          }
        },
        () => calls.listContainers(request, signal),
      ),
    listContainerStats: (request, signal) =>
      orWhole(
        async () => {
          const parts = calls.streamContainerStats(request, signal)
          return {
            stats: await collect('StreamContainerStats', { parts, itemsOf: (part) => part.containerStats }, signal),
          }
        },
        () => calls.listContainerStats(request, signal),
      ),
    listPodSandboxStats: (request, signal) =>
      orWhole(
        async () => {
          const parts = calls.streamPodSandboxStats(request, signal)
          return {
            stats: await collect('StreamPodSandboxStats', { parts, itemsOf: (part) => part.podSandboxStats }, signal),
          }
        },
        () => calls.listPodSandboxStats(request, signal),
      ),
    listPodSandboxMetrics: (request, signal) =>
      orWhole(
        async () => {
          const parts = calls.streamPodSandboxMetrics(request, signal)
          return {
            podMetrics: await collect(
              'StreamPodSandboxMetrics',
              { parts, itemsOf: (part) => part.podSandboxMetrics },
              signal,
            ),
          }
        },
        () => calls.listPodSandboxMetrics(request, signal),
      ),
    listImages: (request, signal) =>
      orWhole(
        async () => {
          const parts = calls.streamImages(request, signal)
          return { images: await collect('StreamImages', { parts, itemsOf: (part) => part.images }, signal) }
        },
        () => calls.listImages(request, signal),
      ),
  }
  return { ...calls, ...lists }
}

function hasNoStreams(error: unknown): boolean {
  return error instanceof CriCallError && error.code === 'Unimplemented'
}

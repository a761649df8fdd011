import type { Clock } from '../async/clock.ts'

/** Another profile is being taken. */
export class ProfilerBusyError extends Error {
  override readonly name = 'ProfilerBusyError'
}

/** Takes profiles of this process, one at a time, in the formats that Chrome and its relatives read. */
export interface Profiler {
  /** Where the processor time of so many seconds goes (.cpuprofile). */
  cpu(seconds: number, signal: AbortSignal): Promise<string>
  /** Who allocates what lives at the end of so many seconds (.heapprofile). */
  heap(seconds: number, signal: AbortSignal): Promise<string>
  /** How long whatever is due has to wait for what runs, in so many seconds: the one thing that is contended for here is the event loop. */
  block(seconds: number, signal: AbortSignal): Promise<string>
}

const BLOCK_RESOLUTION_MS = 1
const PERCENTILES = [50, 90, 99, 99.9]
const NANOSECONDS = 1e9

export function createProfiler(clock: Clock): Profiler {
  let busy = false
  const take = async (work: (post: Post) => Promise<unknown>): Promise<string> => {
    if (busy) throw new ProfilerBusyError('Cannot take a profile: another one is being taken')
    busy = true
    try {
      // Loaded when it is needed: it is not small, and hardly ever needed.
      const { Session } = await import('node:inspector/promises')
      const session = new Session()
      session.connect()
      try {
        return JSON.stringify(await work((method) => session.post(method)))
      } finally {
        session.disconnect()
      }
    } finally {
      busy = false
    }
  }
  return {
    cpu: (seconds, signal) =>
      take(async (post) => {
        await post('Profiler.enable')
        await post('Profiler.start')
        await clock.sleep(seconds * 1000, signal)
        return ((await post('Profiler.stop')) as { profile: unknown }).profile
      }),
    heap: (seconds, signal) =>
      take(async (post) => {
        await post('HeapProfiler.startSampling')
        await clock.sleep(seconds * 1000, signal)
        return ((await post('HeapProfiler.stopSampling')) as { profile: unknown }).profile
      }),
    block: async (seconds, signal) => {
      const { monitorEventLoopDelay } = await import('node:perf_hooks')
      const delay = monitorEventLoopDelay({ resolution: BLOCK_RESOLUTION_MS })
      delay.enable()
      try {
        await clock.sleep(seconds * 1000, signal)
      } finally {
        delay.disable()
      }
      const toSeconds = (nanoseconds: number) => nanoseconds / NANOSECONDS
      const percentiles = PERCENTILES.map((percent) => [percent, toSeconds(delay.percentile(percent))])
      const { mean, max } = delay
      const eventLoopDelaySeconds = { mean: toSeconds(mean), max: toSeconds(max), ...Object.fromEntries(percentiles) }
      return JSON.stringify({ seconds, samples: delay.count, eventLoopDelaySeconds })
    },
  }
}

type Post = (method: string) => Promise<unknown>

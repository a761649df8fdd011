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
}

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
  }
}

type Post = (method: string) => Promise<unknown>

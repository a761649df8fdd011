import type { ParsedSample } from './parse-samples.ts'

/** How much something uses. */
export interface Usage {
  readonly cpuNanoCores: number
  readonly memoryBytes: number
  /** When it was measured, and over how long; both in milliseconds. */
  readonly time: number
  readonly windowMs: number
}

export interface MeasuredPod {
  readonly namespace: string
  readonly name: string
  /** By the name of the container. */
  readonly containers: ReadonlyMap<string, Usage>
}

interface Point {
  readonly seconds: number
  readonly time: number
}

/** What is known of one counter: where it stands, and where it stood before that. */
interface Track {
  readonly last: Point
  readonly previous: Point | undefined
  readonly memoryBytes: number
}

// Something that was so long ago says nothing about now.
const LONGEST_WINDOW_MS = 120_000

/** Turns the counters of a kubelet into usage, from one reading to the next. */
export class UsageMeter {
  #node: Track | undefined
  #containers: ReadonlyMap<string, Track> = new Map()

  /** Takes a reading; the time counts for samples without one of their own. */
  add(samples: readonly ParsedSample[], now: number): void {
    const memory = new Map<string, number>()
    for (const { name, labels, value } of samples) {
      if (name.endsWith('_memory_working_set_bytes')) memory.set(`${name.split('_')[0]}${keyOf(labels)}`, value)
    }
    const containers = new Map<string, Track>()
    for (const { name, labels, value, time = now } of samples) {
      const key = keyOf(labels)
      const point = { seconds: value, time }
      if (name === 'node_cpu_usage_seconds_total') this.#node = follow(this.#node, point, memory.get(`node${key}`))
      if (name !== 'container_cpu_usage_seconds_total') continue
      containers.set(key, follow(this.#containers.get(key), point, memory.get(`container${key}`)))
    }
    this.#containers = containers
  }

  /** Undefined until two readings differ. */
  node(): Usage | undefined {
    return this.#node && toUsage(this.#node)
  }

  /** The node and all that runs on it were measured twice, not too long apart. */
  isComplete(): boolean {
    return [this.#node, ...this.#containers.values()].every((track) => track?.previous !== undefined)
  }

  /** Pods all of whose containers have been measured twice. */
  pods(): readonly MeasuredPod[] {
    const byPod = Map.groupBy(this.#containers, ([key]) => key.slice(0, key.lastIndexOf('/')))
    return [...byPod].flatMap(([pod, tracks]) => {
      const [namespace = '', name = ''] = pod.split('/')
      const containers = new Map<string, Usage>()
      for (const [key, track] of tracks) {
        const usage = toUsage(track)
        if (usage === undefined) return []
        containers.set(key.slice(pod.length + 1), usage)
      }
      return [{ namespace, name, containers }]
    })
  }
}

function keyOf({ namespace = '', pod = '', container = '' }: Readonly<Record<string, string>>): string {
  return `${namespace}/${pod}/${container}`
}

function follow(track: Track | undefined, point: Point, memoryBytes = 0): Track {
  if (track === undefined) return { last: point, previous: undefined, memoryBytes }
  // A counter that went back belongs to a container that was started again.
  if (point.seconds < track.last.seconds) return { last: point, previous: undefined, memoryBytes }
  if (point.time <= track.last.time) return { ...track, memoryBytes }
  const isRecent = point.time - track.last.time <= LONGEST_WINDOW_MS
  return { last: point, previous: isRecent ? track.last : undefined, memoryBytes }
}

function toUsage({ last, previous, memoryBytes }: Track): Usage | undefined {
  if (previous === undefined) return undefined
  const windowMs = last.time - previous.time
  const cpuNanoCores = Math.round(((last.seconds - previous.seconds) * 1e12) / windowMs)
  return { cpuNanoCores, memoryBytes, time: last.time, windowMs }
}

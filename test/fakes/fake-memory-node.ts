import { setImmediate } from 'node:timers/promises'
import { parseCpuSet } from '../../src/model/resources/cpu-set.ts'
import type { ObservedPod } from '../../src/model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../src/model/pod/pod.ts'
import { loadMemoryState } from '../../src/node/memory/load-memory-state.ts'
import { MemoryAssignments } from '../../src/node/memory/memory-assignments.ts'
import type { PlacementPolicy } from '../../src/node/placement/placement-policy.ts'
import type { PodLevel } from '../../src/node/placement/pod-level.ts'
import type { MemoryPolicy } from '../../src/node/memory/memory-state.ts'
import type { Logger } from '../../src/base/telemetry/logger.ts'
import { createInstance, createObservedPod } from '../builders/create-observed-pod.ts'
import { placePod } from '../builders/place-pod.ts'
import { FakeClock } from './fake-clock.ts'
import { FakeStateFile } from './fake-state-file.ts'

/** A machine with NUMA nodes on which containers run, and which remembers who has which memory; it outlives the agents on it. */
export class FakeMemoryNode {
  readonly clock = new FakeClock()
  readonly file = new FakeStateFile('memory')
  /** The pods that were admitted. */
  readonly pods = new Map<PodUid, Pod>()
  /** The NUMA nodes of running containers, by "<pod>/<container>". */
  readonly running = new Map<string, string>()
  readonly counted: string[] = []
  readonly lines: string[] = []
  readonly log: Logger

  constructor() {
    const say = (level: string) => (message: string) => void this.lines.push(`${level} ${message}`)
    this.log = {
      error: say('error'),
      warn: say('warn'),
      info: say('info'),
      debug: say('debug'),
      child: () => this.log,
    }
  }

  readonly observed = {
    get: (uid: PodUid): ObservedPod | undefined => {
      const ids = [...this.running.keys()].filter((id) => id.startsWith(`${uid}/`))
      if (ids.length === 0) return undefined
      return createObservedPod({
        uid,
        containers: ids.map((id) => createInstance({ id, name: id.slice(uid.length + 1) })),
      })
    },
  }

  /** An agent with the static policy that has observed what runs, and does nothing by itself until it is run. */
  async start(policy: MemoryPolicy, podLevel: PodLevel = 'off'): Promise<MemoryAssignments> {
    const memory = new MemoryAssignments({
      policy,
      podLevel,
      recorded: await loadMemoryState({ file: this.file, log: this.log, podLevel }, policy),
      write: (text) => this.file.write(text),
      activePods: () => [...this.pods.values()],
      observed: this.observed,
      readNodes: async ({ id }) => {
        const nodes = this.running.get(id)
        if (nodes === undefined) throw new Error(`Cannot read ${id}`)
        return new Set(parseCpuSet(nodes))
      },
      periodMs: 10_000,
      metrics: {
        memoryGiven: (kinds) => void this.counted.push(`given ${kinds}`),
        memoryRejected: () => void this.counted.push('rejected'),
        podMemoryGiven: ({ exclusive, shared }) => void this.counted.push(`pod ${exclusive} alone, ${shared} share`),
        podMemoryRejected: () => void this.counted.push('pod rejected'),
      },
      clock: this.clock,
      log: this.log,
    })
    const uids = new Set([...this.running.keys()].map((id) => id.split('/')[0] as PodUid))
    await memory.adoptRunning(
      [...uids].flatMap((uid) => this.observed.get(uid) ?? []),
      new AbortController().signal,
    )
    return memory
  }

  /** Admits a pod and starts its containers; false when it is rejected. */
  async add(memory: MemoryAssignments, pod: Pod, policy?: PlacementPolicy): Promise<boolean> {
    if (placePod(memory, pod, policy) !== undefined) return false
    const { uid } = pod.metadata
    this.pods.set(uid, pod)
    for (const { name } of pod.spec.containers) this.running.set(`${uid}/${name}`, await memory.prepare(uid, name))
    return true
  }

  /** Ends a pod. */
  end(uid: PodUid): void {
    this.pods.delete(uid)
    for (const id of this.running.keys()) if (id.startsWith(`${uid}/`)) this.running.delete(id)
  }

  /** Who has memory where: "<id>=<nodes> …". */
  get shown(): string {
    return [...this.running].map(([id, nodes]) => `${id}=${nodes}`).join(' ')
  }

  /** Runs an agent until it has nothing more to do. */
  async run(memory: MemoryAssignments, ms = 0): Promise<void> {
    const stop = new AbortController()
    const ended = memory.run(stop.signal).catch((error: unknown) => {
      if (error !== stop.signal.reason) throw error
    })
    await settle()
    if (ms > 0) await this.clock.advance(ms)
    await settle()
    stop.abort(new Error('enough'))
    await ended
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await setImmediate()
}

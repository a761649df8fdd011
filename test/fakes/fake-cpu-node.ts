import { setImmediate } from 'node:timers/promises'
import { formatCpuSet, parseCpuSet } from '../../src/model/resources/cpu-set.ts'
import type { ObservedPod } from '../../src/model/pod/observed-pod.ts'
import { allContainers } from '../../src/model/pod/pod-containers.ts'
import type { Pod, PodUid } from '../../src/model/pod/pod.ts'
import { CpuAssignments } from '../../src/node/cpus/cpu-assignments.ts'
import type { CpuPolicy } from '../../src/node/cpus/cpu-policy.ts'
import type { PlacementPolicy } from '../../src/node/placement/placement-policy.ts'
import { loadCpuState } from '../../src/node/cpus/load-cpu-state.ts'
import type { Logger } from '../../src/base/telemetry/logger.ts'
import { createInstance, createObservedPod } from '../builders/create-observed-pod.ts'
import { placePod } from '../builders/place-pod.ts'
import { FakeClock } from './fake-clock.ts'
import type { StateFile } from '../../src/system/files/state/state-file.ts'

/** A machine on which containers run on CPUs, and which remembers who has which; it outlives the agents on it. */
export class FakeCpuNode {
  readonly clock = new FakeClock()
  /** The file of assignments, and how often one was set aside. */
  file: string | undefined
  setAside = 0
  /** The pods that were admitted. */
  readonly pods = new Map<PodUid, Pod>()
  /** The CPUs of running containers, by id. */
  readonly running = new Map<string, { readonly uid: PodUid; readonly name: string; cpus: string }>()
  /** What was asked of the runtime: "<id> <cpus>". */
  readonly updates: string[] = []
  /** How often the CPUs of a container were read from the kernel. */
  reads = 0
  /** Ids of containers that cannot be read. */
  readonly mute = new Set<string>()
  /** Ids of containers that cannot be updated. */
  readonly stubborn = new Set<string>()
  readonly counted: string[] = []
  readonly lines: string[] = []
  failsToWrite = false
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

  readonly store: StateFile = {
    path: 'cpus',
    read: async () => this.file,
    write: async (text) => {
      if (this.failsToWrite) throw new Error('Cannot write: disk full')
      this.file = text
    },
    setAside: async () => {
      this.file = undefined
      this.setAside += 1
      return `cpus.broken-${this.setAside}`
    },
  }

  readonly observed = {
    uids: () => [...new Set([...this.running.values()].map(({ uid }) => uid))],
    get: (uid: PodUid): ObservedPod | undefined => {
      const mine = [...this.running].filter(([, container]) => container.uid === uid)
      if (mine.length === 0) return undefined
      return createObservedPod({ uid, containers: mine.map(([id, { name }]) => createInstance({ id, name })) })
    },
  }

  /** The node as the CPU manager uses it. */
  get parts() {
    return {
      observed: this.observed,
      activePods: () => [...this.pods.values()],
      readCpus: async ({ id }: { readonly id: string }) => {
        this.reads += 1
        if (this.mute.has(id)) throw new Error(`Cannot read ${id}`)
        const cpus = this.running.get(id)?.cpus
        return cpus === undefined ? undefined : new Set(parseCpuSet(cpus))
      },
      setCpus: async ({
        id,
        cpus,
        exclusive,
      }: {
        readonly id: string
        readonly cpus: string
        readonly exclusive: boolean
      }) => {
        this.updates.push(`${id} ${cpus}${exclusive ? ' alone' : ''}`)
        const container = this.running.get(id)
        if (container === undefined || this.stubborn.has(id)) throw new Error(`Cannot update ${id}`)
        container.cpus = cpus
      },
      write: (text: string) => this.store.write(text),
      periodMs: 10_000,
      clock: this.clock,
      log: this.log,
    }
  }

  /** An agent with the static policy that has observed what runs, and does nothing by itself until it is run. */
  async start(policy: CpuPolicy): Promise<CpuAssignments> {
    const cpus = new CpuAssignments({
      ...this.parts,
      policy,
      recorded: await loadCpuState({ store: this.store, log: this.log }, policy),
      liftsQuota: true,
      metrics: {
        cpusGiven: ({ wholeCores, oneCache }) =>
          void this.counted.push(`given${wholeCores ? ' whole' : ''}${oneCache ? ' near' : ''}`),
        cpusRejected: () => void this.counted.push('rejected'),
        podCpusGiven: ({ exclusive, shared }) => void this.counted.push(`pod ${exclusive} alone, ${shared} share`),
        podCpusRejected: () => void this.counted.push('pod rejected'),
      },
    })
    await cpus.adoptRunning(
      this.observed.uids().flatMap((uid) => this.observed.get(uid) ?? []),
      new AbortController().signal,
    )
    return cpus
  }

  /** Admits a pod and starts all its containers; false when it is rejected. */
  async add(cpus: CpuAssignments, pod: Pod, policy?: PlacementPolicy): Promise<boolean> {
    if (placePod(cpus, pod, policy) !== undefined) return false
    const { uid } = pod.metadata
    this.pods.set(uid, pod)
    for (const { container } of allContainers(pod).filter(({ kind }) => kind === 'regular')) {
      const { cpus: set } = await cpus.prepare(uid, container.name)
      this.running.set(`${uid}/${container.name}`, { uid, name: container.name, cpus: set })
    }
    cpus.wake()
    return true
  }

  /** Ends a pod. */
  end(cpus: CpuAssignments, uid: PodUid): void {
    this.pods.delete(uid)
    for (const [id, container] of this.running) if (container.uid === uid) this.running.delete(id)
    cpus.release(uid)
  }

  /** Who runs where: "<id>=<cpus> …". */
  get shown(): string {
    return [...this.running].map(([id, { cpus }]) => `${id}=${formatCpuSet(parseCpuSet(cpus))}`).join(' ')
  }
}

/** Runs an agent for a while; it has put everything in its place when this returns. */
export async function runFor(cpus: CpuAssignments, node: FakeCpuNode, ms = 0): Promise<void> {
  const stop = new AbortController()
  const ended = cpus.run(stop.signal).catch((error: unknown) => {
    if (error !== stop.signal.reason) throw error
  })
  await settle()
  if (ms > 0) await node.clock.advance(ms)
  await settle()
  stop.abort(new Error('enough'))
  await ended
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await setImmediate()
}

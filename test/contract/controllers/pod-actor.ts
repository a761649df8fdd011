import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import type { KubeClient } from '../../../src/protocols/kube-api/kube-client.ts'
import { runListWatch } from '../../../src/protocols/kube-api/list-watch/run-list-watch.ts'
import type { AnyObject } from './behaviour-case.ts'

/**
 * What the pods of a case do, as an annotation of theirs says it: "ready" (as without one), "unready", "pending", "unbound", "succeed", "fail:CODE",
 * "restarts:N". Of a pod of an indexed Job "1=fail:3,*=succeed" goes by its index.
 */
export const DOES = 'behaviour/does'
/** Whether a pod that is deleted stays ("linger"). */
export const ENDS = 'behaviour/ends'
export const NODE = 'node-1'

const LONG_AGO = '2020-01-01T00:00:00Z'

/** In place of scheduler and kubelet: binds pods, and writes their statuses; alike for all controllers that are compared. */
export class PodActor {
  readonly #client: KubeClient
  readonly #newest = new Map<string, AnyObject>()
  readonly #busy = new Set<string>()
  readonly #done = new Map<string, string>()
  #addresses = 0

  constructor(client: KubeClient) {
    this.#client = client
  }

  async run(signal: AbortSignal): Promise<void> {
    const see = (pod: AnyObject) => {
      this.#newest.set(pod.metadata.uid, pod)
      void this.#actOn(pod.metadata.uid, signal)
    }
    await runListWatch<AnyObject>(
      {
        client: this.#client,
        path: '/api/v1/pods',
        clock: systemClock,
        random: Math.random,
        log: silentLogger,
        onReplace: (pods) => pods.forEach(see),
        onEvent: ({ type, object }) => {
          if (type !== 'DELETED') return see(object)
          this.#newest.delete(object.metadata.uid)
          this.#done.delete(object.metadata.uid)
        },
      },
      signal,
    )
  }

  async #actOn(uid: string, signal: AbortSignal): Promise<void> {
    if (this.#busy.has(uid)) return
    this.#busy.add(uid)
    try {
      for (;;) {
        const pod = this.#newest.get(uid)
        if (pod === undefined) return
        // What others changed meanwhile comes by the watch.
        await this.#step(pod, signal).catch(() => {})
        if (this.#newest.get(uid) === pod) return
      }
    } finally {
      this.#busy.delete(uid)
    }
  }

  async #step(pod: AnyObject, signal: AbortSignal): Promise<void> {
    const { metadata, spec, status } = pod
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`
    const isTerminal = ['Succeeded', 'Failed'].includes(status?.phase)
    if (metadata.deletionTimestamp !== undefined) {
      if (metadata.annotations?.[ENDS] === 'linger') return
      if (spec.nodeName && !isTerminal) await this.#write(path, endedStatus(pod, 'Failed', 137), signal)
      if (metadata.deletionGracePeriodSeconds === 0 && (metadata.finalizers ?? []).length > 0) return
      const body = { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } }
      await this.#client.send({ method: 'DELETE', path, body }, signal)
      return
    }
    const does = doesOf(metadata)
    if (isTerminal || this.#done.get(metadata.uid) === does || does === 'unbound') return
    if (!spec.nodeName) {
      const body = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: metadata.name },
        target: { kind: 'Node', name: nodeOf(spec) },
      }
      await this.#client.send({ method: 'POST', path: `${path}/binding`, body }, signal)
      return
    }
    const written = this.#statusOf(pod, does)
    if (written !== undefined) await this.#write(path, written, signal)
    this.#done.set(metadata.uid, does)
  }

  async #write(path: string, status: object, signal: AbortSignal): Promise<void> {
    const request = {
      method: 'PATCH',
      path: `${path}/status`,
      contentType: 'application/strategic-merge-patch+json',
    } as const
    await this.#client.send({ ...request, body: { status } }, signal)
  }

  #statusOf(pod: AnyObject, does: string): object | undefined {
    const [what, value = '0'] = does.split(':')
    switch (what) {
      case 'pending':
        return undefined
      case 'succeed':
        return endedStatus(pod, 'Succeeded', 0)
      case 'fail':
        return endedStatus(pod, 'Failed', Number(value))
      default: {
        const isReady = what === 'ready'
        const podIP = pod.status?.podIP ?? this.#newAddress()
        const restartCount = what === 'restarts' ? Number(value) : 0
        return {
          phase: 'Running',
          startTime: LONG_AGO,
          podIP,
          podIPs: [{ ip: podIP }],
          conditions: withReady(pod, isReady),
          containerStatuses: pod.spec.containers.map(({ name, image }: AnyObject) => ({
            name,
            image,
            imageID: image,
            ready: isReady,
            started: true,
            restartCount,
            state: { running: { startedAt: LONG_AGO } },
          })),
        }
      }
    }
  }

  #newAddress(): string {
    this.#addresses += 1
    return `10.1.${this.#addresses >> 8}.${this.#addresses & 255}`
  }
}

function doesOf({ annotations = {} }: AnyObject): string {
  const text: string = annotations[DOES] ?? 'ready'
  if (!text.includes('=')) return text
  const index = annotations['batch.kubernetes.io/job-completion-index'] ?? ''
  const rules = new Map(text.split(',').map((rule) => rule.split('=') as [string, string]))
  return rules.get(index) ?? rules.get('*') ?? 'ready'
}

/** A pod of a DaemonSet is for one node. */
function nodeOf({ affinity }: AnyObject): string {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  return terms[0]?.matchFields?.[0]?.values[0] ?? NODE
}

function withReady({ status }: AnyObject, isReady: boolean): readonly object[] {
  // In place of those that the API server writes when it binds a pod.
  const bound = status?.conditions?.some(({ type }: AnyObject) => type === 'PodScheduled') === true
  const removed = bound ? [{ $patch: 'delete', type: 'PodScheduled' }] : []
  const lastTransitionTime = new Date().toISOString()
  return [...removed, { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }]
}

function endedStatus(pod: AnyObject, phase: string, exitCode: number): object {
  const finishedAt = new Date().toISOString()
  const reason = exitCode === 0 ? 'Completed' : 'Error'
  return {
    phase,
    conditions: withReady(pod, false),
    containerStatuses: pod.spec.containers.map(({ name, image }: AnyObject) => ({
      name,
      image,
      imageID: image,
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode, reason, startedAt: LONG_AGO, finishedAt } },
    })),
  }
}

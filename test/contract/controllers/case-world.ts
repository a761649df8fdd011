import { setTimeout as sleep } from 'node:timers/promises'
import { KubeApiError } from '../../../src/protocols/kube-api/kube-client.ts'
import type { KubeClient, KubeRequest } from '../../../src/protocols/kube-api/kube-client.ts'
import type { AnyObject, Outcome } from './behaviour-case.ts'
import { addNode } from './add-node.ts'
import type { NodeChoices } from './add-node.ts'
import type { NamespaceObjects } from './namespace-objects.ts'
import { DOES } from './pod-actor.ts'
import { collapse, componentOf, KnownHashes, normalize, shownOf, shownOfEvent } from './snapshot.ts'

const GROUPS: Readonly<Record<string, string>> = {
  deployments: '/apis/apps/v1',
  replicasets: '/apis/apps/v1',
  daemonsets: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  controllerrevisions: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  cronjobs: '/apis/batch/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  horizontalpodautoscalers: '/apis/autoscaling/v2',
  endpointslices: '/apis/discovery.k8s.io/v1',
}
/** Kinds that snapshots may have, and where the API has them. */
export const SHOWN_KINDS: Readonly<Record<string, string>> = {
  ...GROUPS,
  pods: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  services: '/api/v1',
  endpoints: '/api/v1',
  serviceaccounts: '/api/v1',
  configmaps: '/api/v1',
  events: '/api/v1',
}
// Of the real API server: it warns of addresses that it has just given to services itself, which happens on a busy machine.
const ADDRESS_REPAIR = 'ipallocator-repair-controller'
const CLUSTER_WIDE = ['nodes', 'namespaces']
/** What a snapshot has when nothing else is asked for. */
const WORKLOADS = [
  'deployments',
  'replicasets',
  'daemonsets',
  'statefulsets',
  'controllerrevisions',
  'jobs',
  'cronjobs',
  'poddisruptionbudgets',
  'persistentvolumeclaims',
  'pods',
]
const PATIENCE_MS = 60_000
const PAUSE_MS = 100
const PATCHES = { merge: 'application/merge-patch+json', strategic: 'application/strategic-merge-patch+json' } as const

export interface CaseOptions {
  readonly client: KubeClient
  readonly objects: NamespaceObjects
  readonly namespace: string
  /** How long nothing may change until all that follows from a step has happened. */
  readonly quietMs: number
  readonly signal: AbortSignal
}

/** The API as a case uses it, in its namespace. */
export class CaseWorld {
  readonly namespace: string
  readonly #options: CaseOptions
  readonly #hashes = new KnownHashes()
  readonly #outcome: Record<string, unknown> = {}

  constructor(options: CaseOptions) {
    this.#options = options
    this.namespace = options.namespace
    options.objects.onNew((_, object) => {
      if (object.metadata.namespace === this.namespace) this.#hashes.learn(object)
    })
  }

  get outcome(): Outcome {
    return this.#outcome
  }

  path(plural: string, name?: string): string {
    const place = CLUSTER_WIDE.includes(plural) ? '' : `/namespaces/${this.namespace}`
    return `${GROUPS[plural] ?? '/api/v1'}${place}/${plural}${name === undefined ? '' : `/${name}`}`
  }

  async send(request: KubeRequest): Promise<AnyObject> {
    return await this.#options.client.send<AnyObject>(request, this.#options.signal)
  }

  /** Sends what may be refused: the code, and the answer or the message. */
  async try(method: KubeRequest['method'], path: string, body?: unknown): Promise<AnyObject> {
    try {
      const answer = await this.send({ method, path, ...(body !== undefined && { body }) })
      return { code: 'good', ...(answer?.kind === 'Status' && { status: answer.status, message: answer.message }) }
    } catch (error) {
      if (!(error instanceof KubeApiError)) throw error
      return { code: error.code, reason: error.reason, message: error.message }
    }
  }

  async create(plural: string, object: AnyObject): Promise<AnyObject> {
    return await this.send({ method: 'POST', path: this.path(plural), body: object })
  }

  async get(plural: string, name: string): Promise<AnyObject> {
    try {
      return await this.send({ method: 'GET', path: this.path(plural, name) })
    } catch (error) {
      if (error instanceof KubeApiError && error.code === 404) return undefined
      throw error
    }
  }

  async list(plural: string, labels = ''): Promise<readonly AnyObject[]> {
    const query = { query: { labelSelector: labels } }
    return (await this.send({ method: 'GET', path: this.path(plural), ...query })).items
  }

  async patch(plural: string, name: string, body: object, kind: keyof typeof PATCHES = 'merge'): Promise<AnyObject> {
    const path = plural.includes('/')
      ? `${this.path(plural.split('/')[0] ?? '', name)}/${plural.split('/')[1]}`
      : this.path(plural, name)
    return await this.send({ method: 'PATCH', path, body, contentType: PATCHES[kind] })
  }

  async remove(plural: string, name: string, propagationPolicy = 'Background'): Promise<void> {
    await this.send({ method: 'DELETE', path: this.path(plural, name), body: { propagationPolicy } })
  }

  async addNode(name: string, choices: NodeChoices): Promise<void> {
    await addNode(this.#options.client, name, choices, this.#options.signal)
  }

  /** Lets pods do something else. */
  async let(pods: readonly AnyObject[], does: string): Promise<void> {
    for (const { metadata } of pods)
      await this.patch('pods', metadata.name, { metadata: { annotations: { [DOES]: does } } })
  }

  /** Waits until something holds; says what was there otherwise. */
  async until<T>(what: string, read: () => Promise<T>, holds: (value: T) => boolean, ms = PATIENCE_MS): Promise<T> {
    const end = performance.now() + ms
    for (;;) {
      const value = await read()
      if (holds(value)) return value
      if (performance.now() > end)
        throw new Error(`${this.namespace} waited for ${what}: ${JSON.stringify(value)?.slice(0, 3000)}`)
      await sleep(PAUSE_MS, undefined, { signal: this.#options.signal })
    }
  }

  /** Waits until one object, or undefined when it is gone, is as it should be. */
  async untilObject(
    plural: string,
    name: string,
    holds: (object: AnyObject) => boolean,
    ms?: number,
  ): Promise<AnyObject> {
    return await this.until(`${plural}/${name}`, () => this.get(plural, name), holds, ms)
  }

  async untilPods(
    count: number,
    labels = '',
    isCounted: (pod: AnyObject) => boolean = () => true,
  ): Promise<readonly AnyObject[]> {
    const read = async () => (await this.list('pods', labels)).filter(isCounted)
    return await this.until(`${count} pods`, read, (pods) => pods.length === count)
  }

  /** Takes what follows from some steps whose number depends on how fast each of them was: of events only their reasons. */
  async snapEnd(label: string, kinds: readonly string[] = WORKLOADS): Promise<void> {
    await this.snap(label, kinds, false)
  }

  /** Takes all that the namespace has, once nothing changes any more. */
  async snap(label: string, kinds: readonly string[] = WORKLOADS, withMessages = true): Promise<void> {
    const { objects, quietMs, signal } = this.#options
    const [begin, end] = [performance.now(), performance.now() + PATIENCE_MS]
    for (;;) {
      const now = performance.now()
      // A step without any effect is seen to have none.
      const changed = Math.max(begin, objects.changedAt(this.namespace))
      if (now - changed >= quietMs || now > end) return this.note(label, this.#take(kinds, withMessages))
      await sleep(PAUSE_MS, undefined, { signal })
    }
  }

  /** Takes one value. */
  note(label: string, value: unknown): void {
    if (label in this.#outcome) throw new Error(`Two snapshots are called "${label}"`)
    this.#outcome[label] = normalize(value, this.namespace, this.#hashes)
  }

  #take(kinds: readonly string[], withMessages: boolean): unknown {
    const shown = kinds
      .map((plural) => [plural, this.#options.objects.list(plural, this.namespace).filter(isShown)] as const)
      .filter(([, objects]) => objects.length > 0)
      .map(([plural, objects]) => {
        const all = objects.map((object) =>
          normalize(shownOf(plural, object, withMessages), this.namespace, this.#hashes),
        )
        return [plural, collapse(all)] as const
      })
    const events = this.#options.objects
      .list('events', this.namespace)
      .filter((event) => componentOf(event) !== ADDRESS_REPAIR)
      .map((event) => normalize(shownOfEvent(event, withMessages), this.namespace, this.#hashes) as string)
    return { ...Object.fromEntries(shown), events: [...new Set(events)].toSorted() }
  }
}

/** Every namespace has one that says which authority signs for the API. */
function isShown({ metadata }: AnyObject): boolean {
  return metadata.name !== 'kube-root-ca.crt'
}

import { podLogName } from '../../model/pod/pod.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import { ApiPodError, decodeAnyApiPod, readIdentity, isMirrorPod } from './decode-api-pod.ts'

/** What is followed of an API; see runListWatch() in src/protocols/kube-api. */
export interface FollowedObjects {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly onReplace: (items: readonly unknown[], version: string) => void
  readonly onEvent: (event: { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: unknown }) => void
}

/** All that the API has for this node. */
export interface ApiPods {
  /** To be run, or with the reason why they cannot be read. */
  readonly pods: readonly Pod[]
  /** Only showing what static pods are at. */
  readonly mirrors: readonly Pod[]
}

export interface ApiSourceDeps {
  readonly nodeName: string
  /** Lists and watches until the signal aborts. */
  readonly follow: (objects: FollowedObjects, signal: AbortSignal) => Promise<void>
  /** Resolves once the own Node was seen: pods are judged by it. */
  readonly nodeSeen: (signal: AbortSignal) => Promise<void>
  readonly events: PodEvents
  readonly log: Logger
  /** Takes the complete set, at first when the list is there and then at each change. */
  readonly emit: (pods: ApiPods) => void
}

/** The pods that are bound to this node. One that cannot be read harms no other. */
export async function runApiSource(deps: ApiSourceDeps, signal: AbortSignal): Promise<void> {
  const store = new ApiPodStore(deps)
  await deps.nodeSeen(signal)
  await deps.follow(
    {
      path: '/api/v1/pods',
      query: { fieldSelector: `spec.nodeName=${deps.nodeName}` },
      onReplace: (items) => {
        store.replace(items)
        deps.emit(store.pods())
      },
      onEvent: ({ type, object }) => {
        if (type === 'DELETED') store.remove(object)
        else store.put(object)
        deps.emit(store.pods())
      },
    },
    signal,
  )
}

/** By namespace and name, of which the API never has two at a time. */
class ApiPodStore {
  readonly #deps: Pick<ApiSourceDeps, 'events' | 'log'>
  #known = new Map<string, Pod>()

  constructor(deps: Pick<ApiSourceDeps, 'events' | 'log'>) {
    this.#deps = deps
  }

  pods(): ApiPods {
    const all = [...this.#known.values()]
    return { pods: all.filter((pod) => !isMirrorPod(pod)), mirrors: all.filter(isMirrorPod) }
  }

  replace(objects: readonly unknown[]): void {
    const present = new Set(objects.map(keyOf))
    for (const key of this.#known.keys()) if (!present.has(key)) this.#known.delete(key)
    for (const object of objects) this.put(object)
  }

  remove(object: unknown): void {
    this.#known.delete(keyOf(object))
  }

  put(object: unknown): void {
    const key = keyOf(object)
    const known = this.#known.get(key)
    try {
      const { pod, unknownFields } = decodeAnyApiPod(object)
      if (known?.metadata.uid !== pod.metadata.uid) this.#reportUnknown(pod, unknownFields)
      if (pod.unreadable !== undefined && pod.unreadable !== known?.unreadable)
        this.#reportUnreadable(pod, pod.unreadable)
      if (!isUnchanged(known, pod)) this.#known.set(key, pod)
    } catch (error) {
      if (!(error instanceof ApiPodError)) throw error
      // No API has such an object, and nothing of it could be asked of one.
      this.#deps.log.error('cannot use an object of the API as a pod, leaving it as it is', { error })
    }
  }

  #reportUnreadable(pod: Pod, message: string): void {
    this.#deps.log.error('cannot read a pod of the API', { pod: podLogName(pod), uid: pod.metadata.uid, message })
    this.#deps.events.record(pod, { type: 'Warning', reason: 'FailedValidation', message })
  }

  #reportUnknown({ metadata: { namespace, name, uid } }: Pod, fields: readonly string[]): void {
    if (fields.length === 0) return
    const pod = `${namespace}/${name}`
    this.#deps.log.warn('a pod of the API has fields that this agent does not know', { pod, uid, fields })
  }
}

/** A relist gives every object again, and most often as it was. */
function isUnchanged(known: Pod | undefined, pod: Pod): boolean {
  const { uid, resourceVersion } = pod.metadata
  return (
    known !== undefined &&
    resourceVersion !== undefined &&
    known.metadata.uid === uid &&
    known.metadata.resourceVersion === resourceVersion
  )
}

function keyOf(object: unknown): string {
  const { namespace, name } = readIdentity(object)
  return `${namespace}/${name}`
}

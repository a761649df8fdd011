import { isPodUid } from '../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import { ApiPodError, decodeApiPod, identityOf, isMirrorPod } from './decode-api-pod.ts'

/** What is followed of an API; see runListWatch() in src/protocols/kube-api. */
export interface FollowedObjects {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly onReplace: (items: readonly unknown[], version: string) => void
  readonly onEvent: (event: { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: unknown }) => void
}

/** All that the API has for this node. */
export interface ApiPods {
  /** To be run. */
  readonly pods: readonly Pod[]
  /** Only showing what static pods are at. */
  readonly mirrors: readonly Pod[]
  /** There, but not to be understood: nothing is done about them. */
  readonly unreadable: ReadonlySet<PodUid>
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

/** The pods that are bound to this node. One that cannot be read harms no other, and stays what it was when it could be. */
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
  /** By namespace and name: the UID, and what is wrong. */
  #bad = new Map<string, { readonly uid: string; readonly problem: string }>()

  constructor(deps: Pick<ApiSourceDeps, 'events' | 'log'>) {
    this.#deps = deps
  }

  pods(): ApiPods {
    const all = [...this.#known.values()]
    return {
      pods: all.filter((pod) => !isMirrorPod(pod)),
      mirrors: all.filter(isMirrorPod),
      unreadable: new Set([...this.#bad.values()].map(({ uid }) => uid).filter(isPodUid)),
    }
  }

  replace(objects: readonly unknown[]): void {
    const present = new Set(objects.map(keyOf))
    for (const key of [...this.#known.keys(), ...this.#bad.keys()]) if (!present.has(key)) this.#forget(key)
    for (const object of objects) this.put(object)
  }

  remove(object: unknown): void {
    this.#forget(keyOf(object))
  }

  put(object: unknown): void {
    const key = keyOf(object)
    const known = this.#known.get(key)
    try {
      const { pod, unknownFields } = decodeApiPod(object)
      if (known?.metadata.uid !== pod.metadata.uid) this.#reportUnknown(pod, unknownFields)
      if (isUnchanged(known, pod)) return
      this.#known.set(key, pod)
      this.#bad.delete(key)
    } catch (error) {
      if (!(error instanceof ApiPodError)) throw error
      this.#noteBad(key, error)
    }
  }

  #forget(key: string): void {
    this.#known.delete(key)
    this.#bad.delete(key)
  }

  /** Another pod of the name is another one; the same one goes on as it last was. */
  #noteBad(key: string, { identity, message }: ApiPodError): void {
    if (this.#known.get(key)?.metadata.uid !== identity.uid) this.#known.delete(key)
    const isNew = this.#bad.get(key)?.problem !== message
    this.#bad.set(key, { uid: identity.uid, problem: message })
    if (!isNew) return
    const { namespace, name, uid } = identity
    this.#deps.log.error('cannot read a pod of the API, leaving it as it is', {
      pod: `${namespace}/${name}`,
      uid,
      message,
    })
    if (!isPodUid(uid) || namespace === '' || name === '') return
    const metadata = { namespace, name, uid }
    this.#deps.events.record(
      { metadata, spec: { containers: [] } },
      { type: 'Warning', reason: 'FailedValidation', message },
    )
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
  const { namespace, name } = identityOf(object)
  return `${namespace}/${name}`
}

import { isNotFound } from '../../protocols/kube-api/kube-client.ts'
import { createHash } from 'node:crypto'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import { ObjectCache } from '../../protocols/kube-api/followers/object-cache.ts'
import type {
  CsiAttachment,
  CsiDriverObject,
  CsiDriverObjects,
  CsiDriverTraits,
} from '../../protocols/csi/csi-driver-objects.ts'
import { toDriverTraits } from '../../protocols/csi/csi-driver-objects.ts'

export interface CsiDriverFollowerDeps {
  readonly client: Pick<KubeClient, 'send'>
  /** Lists and watches a collection until the signal aborts; see runListWatch() in src/protocols/kube-api. */
  readonly follow: (
    objects: {
      readonly path: string
      readonly query: Readonly<Record<string, string>>
      readonly onReplace: (items: readonly unknown[]) => void
      readonly onEvent: (event: { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: unknown }) => void
    },
    signal: AbortSignal,
  ) => Promise<void>
  readonly nodeName: string
  /** A CSIDriver object came, changed or went. */
  readonly onChange: () => void
}

interface VolumeAttachment {
  readonly status?: {
    readonly attached?: boolean
    readonly attachmentMetadata?: Readonly<Record<string, string>>
    readonly attachError?: { readonly message?: string; readonly errorCode?: number }
  }
}

// gRPC's number for it.
const RESOURCE_EXHAUSTED = 8

/** What the API knows of CSI drivers. It is asked only on demand: most nodes have no such driver. */
export class CsiDriverFollower implements CsiDriverObjects {
  readonly #deps: CsiDriverFollowerDeps
  readonly #objects = new ObjectCache<CsiDriverObject>()
  readonly #wanted = Promise.withResolvers<void>()
  readonly #synced = Promise.withResolvers<void>()

  constructor(deps: CsiDriverFollowerDeps) {
    this.#deps = deps
  }

  async find(name: string, signal: AbortSignal): Promise<CsiDriverTraits> {
    this.#wanted.resolve()
    await waitForShared(this.#synced.promise, signal)
    return this.#find(name)
  }

  /** What is known now; undefined before the first list, which this begins. */
  peek(name: string): CsiDriverTraits | undefined {
    this.#wanted.resolve()
    return this.#objects.hasSynced ? this.#find(name) : undefined
  }

  async findAttachment(driver: string, handle: string, signal: AbortSignal): Promise<CsiAttachment | undefined> {
    const { client, nodeName } = this.#deps
    const name = `csi-${createHash('sha256').update(`${handle}${driver}${nodeName}`).digest('hex')}`
    const path = `/apis/storage.k8s.io/v1/volumeattachments/${name}`
    try {
      return toAttachment(name, await client.send<VolumeAttachment>({ method: 'GET', path }, signal))
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const { follow, onChange } = this.#deps
    await waitForShared(this.#wanted.promise, signal)
    await follow(
      {
        path: '/apis/storage.k8s.io/v1/csidrivers',
        query: {},
        onReplace: (items) => {
          this.#objects.replace(items as readonly CsiDriverObject[])
          this.#synced.resolve()
          onChange()
        },
        onEvent: (event) => {
          this.#objects.apply(event as { type: typeof event.type; object: CsiDriverObject })
          onChange()
        },
      },
      signal,
    )
  }

  #find(name: string): CsiDriverTraits {
    return toDriverTraits(this.#objects.get('', name))
  }
}

function toAttachment(name: string, { status = {} }: VolumeAttachment): CsiAttachment {
  return {
    name,
    isAttached: status.attached === true,
    metadata: status.attachmentMetadata ?? {},
    error: status.attachError?.message,
    isExhausted: status.attachError?.errorCode === RESOURCE_EXHAUSTED,
  }
}

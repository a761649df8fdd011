import { AbortScope } from '../../../../base/async/abort-scope.ts'
import type { Clock } from '../../../../base/async/clock.ts'
import type { Node } from '../../../../model/generated/core-v1.ts'
import type { NodeAttachments } from '../csi-volume-deps.ts'

export interface WatchedAttachmentsDeps {
  /** The own Node object as the cluster last had it. */
  readonly node: () => Node | undefined
  readonly clock: Clock
}

/** What the status of this node says of attached volumes, for all who wait for that to be another. */
export class WatchedAttachments implements NodeAttachments {
  readonly #deps: WatchedAttachmentsDeps
  readonly #waiting = new Set<() => void>()

  constructor(deps: WatchedAttachmentsDeps) {
    this.#deps = deps
  }

  isInUse(name: string): boolean {
    return this.#deps.node()?.status?.volumesInUse?.includes(name) === true
  }

  isAttached(name: string): boolean {
    return this.#deps.node()?.status?.volumesAttached?.some((attached) => attached.name === name) === true
  }

  async changed(ms: number, signal: AbortSignal): Promise<void> {
    using scope = new AbortScope(signal)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    try {
      await Promise.race([promise, this.#deps.clock.sleep(ms, scope.signal)])
    } finally {
      this.#waiting.delete(resolve)
    }
  }

  /** The Node object has changed. */
  wake(): void {
    for (const go of this.#waiting) go()
  }
}

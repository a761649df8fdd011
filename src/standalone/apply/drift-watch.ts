import type { Clock } from '../../base/async/clock.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { ObjectEvent } from '../../protocols/kube-api/list-watch/kube-object.ts'
import { runListWatch } from '../../protocols/kube-api/list-watch/run-list-watch.ts'
import type { AppliedObject } from './applied-object.ts'
import { isWithin } from './is-within.ts'
import type { ObjectPlace } from './object-paths.ts'

/** An object as a file says it should be, and where the API has it. */
export interface PlacedObject {
  readonly object: AppliedObject
  readonly place: ObjectPlace
}

export interface DriftWatchDeps {
  readonly client: KubeClient
  readonly clock: Clock
  readonly random: () => number
  /** An object is not any more as it was applied. */
  readonly onDrift: () => void
}

/** Watches the collections that applied objects are in, for changes by others. */
export class DriftWatch implements AsyncDisposable {
  readonly #deps: DriftWatchDeps
  readonly #group: TaskGroup
  readonly #collections = new Set<string>()
  #applied: ReadonlyMap<string, AppliedObject> = new Map()

  constructor(deps: DriftWatchDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#group = new TaskGroup(signal)
  }

  /** What is applied now. A collection that is watched once stays so: there are few. */
  follow(applied: ReadonlyMap<string, PlacedObject>): void {
    this.#applied = new Map([...applied.values()].map(({ object, place }) => [keyOf(place, object), object]))
    for (const { place } of applied.values()) {
      const { collection } = place
      if (this.#collections.has(collection)) continue
      this.#collections.add(collection)
      const onEvent = (event: ObjectEvent<AppliedObject>) => this.#check(collection, event)
      const onReplace = (items: readonly AppliedObject[]) => {
        for (const object of items) onEvent({ type: 'MODIFIED', object })
      }
      const watch = { ...this.#deps, path: collection, log: silentLogger, onReplace, onEvent }
      this.#group.run(collection, (s) => runListWatch<AppliedObject>(watch, s))
    }
  }

  #check(collection: string, { type, object }: ObjectEvent<AppliedObject>): void {
    const wanted = this.#applied.get(keyOf({ collection }, object))
    if (wanted !== undefined && (type === 'DELETED' || !isWithin(wanted, object))) this.#deps.onDrift()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#group[Symbol.asyncDispose]()
  }
}

function keyOf({ collection }: Pick<ObjectPlace, 'collection'>, { metadata }: AppliedObject): string {
  return `${collection}/${metadata.name}`
}

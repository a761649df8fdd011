import { systemClock } from '../../../src/base/async/clock.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import type { KubeClient } from '../../../src/protocols/kube-api/kube-client.ts'
import { runListWatch } from '../../../src/protocols/kube-api/list-watch/run-list-watch.ts'
import type { AnyObject } from './behaviour-case.ts'

/** The objects of all namespaces, followed once for all cases: reading them again and again would keep the controllers from their work. */
export class NamespaceObjects {
  readonly #objects = new Map<string, Map<string, AnyObject>>()
  readonly #changedAt = new Map<string, number>()
  readonly #listeners = new Set<(plural: string, object: AnyObject) => void>()

  /** When something in a namespace changed for the last time. */
  changedAt(namespace: string): number {
    return this.#changedAt.get(namespace) ?? 0
  }

  list(plural: string, namespace: string): readonly AnyObject[] {
    const all = [...(this.#objects.get(plural)?.values() ?? [])]
    return all.filter(({ metadata }) => metadata.namespace === namespace)
  }

  /** Calls back with every object that appears. */
  onNew(listener: (plural: string, object: AnyObject) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
  }

  async run(client: KubeClient, paths: Readonly<Record<string, string>>, signal: AbortSignal): Promise<void> {
    const follow = async (plural: string, group: string) => {
      const known = new Map<string, AnyObject>()
      this.#objects.set(plural, known)
      const see = (object: AnyObject, isGone = false) => {
        const { uid, namespace } = object.metadata
        this.#changedAt.set(namespace, performance.now())
        if (!known.has(uid)) for (const listener of this.#listeners) listener(plural, object)
        if (isGone) known.delete(uid)
        else known.set(uid, object)
      }
      await runListWatch<AnyObject>(
        {
          client,
          path: `${group}/${plural}`,
          clock: systemClock,
          random: Math.random,
          log: silentLogger,
          onReplace: (items) => {
            known.clear()
            for (const item of items) see(item)
          },
          onEvent: ({ type, object }) => see(object, type === 'DELETED'),
        },
        signal,
      )
    }
    await Promise.all(Object.entries(paths).map(([plural, group]) => follow(plural, group)))
  }
}

import { withDeadline } from '../../../base/async/deadline.ts'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import { waitForShared } from '../../../base/async/wait-for-shared.ts'
import { isNotFound } from '../kube-client.ts'
import type { ObjectMeta } from '../../../model/generated/core-v1.ts'
import { runListWatch } from '../list-watch/run-list-watch.ts'
import type { FollowerDeps } from './follower-deps.ts'
import { ObjectCache } from './object-cache.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'

/** What a node needs of a ClusterTrustBundle. */
interface TrustBundle {
  readonly metadata?: ObjectMeta | undefined
  readonly spec?: { readonly signerName?: string | undefined; readonly trustBundle?: string | undefined }
}

const GROUP = '/apis/certificates.k8s.io'
// The newest first.
const VERSIONS = ['v1beta1', 'v1alpha1'] as const
const READ_MS = 10_000
const RETRY_MS = 10_000

/** The trust bundles of a cluster, followed from the first question on: most nodes are never asked. */
export class TrustBundlesFollower {
  readonly #deps: FollowerDeps & { readonly tasks: Pick<TaskGroup, 'runLoop'> }
  readonly #bundles = new ObjectCache<TrustBundle>()
  readonly #synced = Promise.withResolvers<void>()
  #isFollowing = false
  #problem = 'trust bundles have not been read from the API server yet'

  constructor(deps: FollowerDeps & { readonly tasks: Pick<TaskGroup, 'runLoop'> }) {
    this.#deps = deps
  }

  /** All there are; fails when they cannot be read within ten seconds. */
  async all(signal: AbortSignal): Promise<readonly TrustBundle[]> {
    const { clock, tasks } = this.#deps
    if (!this.#isFollowing) tasks.runLoop('trust bundles', (s) => this.#follow(s))
    this.#isFollowing = true
    try {
      const read = (s: AbortSignal) => waitForShared(this.#synced.promise, s)
      await withDeadline({ clock, ms: READ_MS, what: 'reading trust bundles' }, read, signal)
    } catch (error) {
      signal.throwIfAborted()
      throw new Error(`Cannot have trust bundles: ${this.#problem}`, { cause: error })
    }
    return this.#bundles.values()
  }

  async #follow(signal: AbortSignal): Promise<never> {
    return await runListWatch<TrustBundle>(
      {
        ...this.#deps,
        path: `${GROUP}/${await this.#findVersion(signal)}/clustertrustbundles`,
        onReplace: (items) => {
          this.#bundles.replace(items)
          this.#synced.resolve()
        },
        onEvent: (event) => this.#bundles.apply(event),
        onProblem: (error) => this.#note(error),
      },
      signal,
    )
  }

  /** Asks until there is one: a server may learn it later. */
  async #findVersion(signal: AbortSignal): Promise<string> {
    for (;;) {
      try {
        for (const version of VERSIONS) if (await this.#has(version, signal)) return version
        this.#problem = 'the API server does not have any'
      } catch (error) {
        signal.throwIfAborted()
        this.#note(error)
      }
      await this.#deps.clock.sleep(RETRY_MS, signal)
    }
  }

  async #has(version: string, signal: AbortSignal): Promise<boolean> {
    try {
      const { resources = [] } = await this.#deps.client.send<{
        readonly resources?: readonly { readonly name: string }[]
      }>({ method: 'GET', path: `${GROUP}/${version}` }, signal)
      return resources.some(({ name }) => name === 'clustertrustbundles')
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }

  #note(error: unknown): void {
    this.#problem = errorMessage(error)
  }
}

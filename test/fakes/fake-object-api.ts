import type { Clock } from '../../src/base/async/clock.ts'
import { ObjectError } from '../../src/pods/objects/object-api.ts'
import type { PersistentVolumeClaim } from '../../src/model/generated/core-v1.ts'
import type {
  ClaimPatch,
  ObjectApi,
  NamespacedName,
  ReferencedKind,
  ReferencedKinds,
  Token,
  TokenSpec,
} from '../../src/pods/objects/object-api.ts'
import { apiNotFound } from './api-not-found.ts'

interface Watcher {
  readonly id: string
  readonly report: () => void
  readonly fail: (error: Error) => void
}

/** An API server in memory that answers at once, unless a test wants it to fail or to hang. */
export class FakeObjectApi implements ObjectApi {
  /** All that was asked for, such as "get ConfigMap shop/web" or "watch Secret shop/key". */
  readonly calls: string[] = []
  /** While set, every question and every watch fails with it. */
  failure: Error | undefined
  /** While true nothing is answered: questions and watches wait until it is false again and something is put. */
  silent = false
  /** The life of tokens; undefined gives what is asked for. */
  tokenLifeSeconds: number | undefined
  readonly #clock: Clock
  readonly #objects = new Map<string, ReferencedKinds[ReferencedKind]>()
  readonly #watchers = new Set<Watcher>()
  #version = 0
  #tokens = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How many watches are open. */
  get watching(): number {
    return this.#watchers.size
  }

  put<K extends ReferencedKind>(kind: K, object: ReferencedKinds[K]): void {
    const { namespace = '', name = '' } = object.metadata ?? {}
    this.#version += 1
    const metadata = { uid: `${kind}-${name}`, ...object.metadata, resourceVersion: String(this.#version) }
    this.#objects.set(idOf(kind, { namespace, name }), { ...object, metadata })
    this.#report(idOf(kind, { namespace, name }))
  }

  remove(kind: ReferencedKind, key: NamespacedName): void {
    this.#objects.delete(idOf(kind, key))
    this.#report(idOf(kind, key))
  }

  /** Ends all watches, as a broken connection does. */
  breakWatches(error: Error = new ObjectError('Unavailable', 'connection lost')): void {
    for (const watcher of this.#watchers) watcher.fail(error)
  }

  async get<K extends ReferencedKind>(
    kind: K,
    key: NamespacedName,
    options: { readonly cached: boolean },
    signal: AbortSignal,
  ): Promise<ReferencedKinds[K]> {
    this.calls.push(`get ${idOf(kind, key)}${options.cached ? ' cached' : ''}`)
    await this.#answer(signal)
    const object = this.#objects.get(idOf(kind, key))
    if (object === undefined) throw apiNotFound(kind, key)
    return object
  }

  async watch<K extends 'ConfigMap' | 'Secret'>(
    kind: K,
    key: NamespacedName,
    onObject: (object: ReferencedKinds[K] | undefined) => void,
    signal: AbortSignal,
  ): Promise<never> {
    const id = idOf(kind, key)
    this.calls.push(`watch ${id}`)
    signal.throwIfAborted()
    if (this.failure !== undefined) throw this.failure
    const end = Promise.withResolvers<never>()
    const report = () => onObject(this.#objects.get(id))
    const watcher = { id, report, fail: end.reject }
    const abort = () => end.reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    this.#watchers.add(watcher)
    if (!this.silent) report()
    try {
      return await end.promise
    } finally {
      this.#watchers.delete(watcher)
      signal.removeEventListener('abort', abort)
    }
  }

  async patchClaimStatus(key: NamespacedName, patch: ClaimPatch, signal: AbortSignal): Promise<PersistentVolumeClaim> {
    this.calls.push(`patch ${idOf('PersistentVolumeClaim', key)} ${JSON.stringify(patch.status)}`)
    const claim = await this.get('PersistentVolumeClaim', key, { cached: false }, signal)
    const { allocatedResourceStatuses: statuses, ...status } = patch.status
    const storage = statuses?.storage
    const kept =
      storage === null
        ? {}
        : { allocatedResourceStatuses: { ...claim.status?.allocatedResourceStatuses, ...(storage && { storage }) } }
    const { allocatedResourceStatuses: _, ...before } = claim.status ?? {}
    this.put('PersistentVolumeClaim', { ...claim, status: { ...before, ...kept, ...status } })
    return await this.get('PersistentVolumeClaim', key, { cached: false }, signal)
  }

  async createToken(account: NamespacedName, spec: TokenSpec, signal: AbortSignal): Promise<Token> {
    this.calls.push(`createToken ${account.namespace}/${account.name} ${spec.audiences.join(',')}`)
    await this.#answer(signal)
    this.#tokens += 1
    const lifeSeconds = this.tokenLifeSeconds ?? spec.expirationSeconds
    return { token: `token-${this.#tokens}`, expiresAt: this.#clock.now() + lifeSeconds * 1000, lifeSeconds }
  }

  async #answer(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.failure !== undefined) throw this.failure
    if (!this.silent) return
    await new Promise((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    )
  }

  #report(id: string): void {
    if (this.silent) return
    for (const watcher of this.#watchers) if (watcher.id === id) watcher.report()
  }
}

function idOf(kind: ReferencedKind, { namespace, name }: NamespacedName): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}

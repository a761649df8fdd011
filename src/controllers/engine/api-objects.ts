import { waitForShared } from '../../base/async/wait-for-shared.ts'
import type { DeleteOptions, ObjectMeta } from '../../model/generated/core-v1.ts'
import { KubeApiError, isNotFound } from '../../protocols/kube-api/kube-client.ts'
import type { KubeRequest } from '../../protocols/kube-api/kube-client.ts'
import type { FollowerDeps } from '../../protocols/kube-api/followers/follower-deps.ts'
import type { KubeObject } from '../../protocols/kube-api/list-watch/kube-object.ts'
import { runListWatch } from '../../protocols/kube-api/list-watch/run-list-watch.ts'
import { LiveObjects } from './live-objects.ts'
import type { Live } from './live-object.ts'

/** A kind of the API. */
export interface ApiKind {
  /** As in "apps/v1". */
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  /** Which of them are followed; all when absent. */
  readonly fieldSelector?: string
}

/** The objects of one kind: known by a list and a watch, written one by one. */
export class ApiObjects<T extends KubeObject> {
  readonly kind: ApiKind
  readonly known = new LiveObjects<T>()
  readonly #deps: FollowerDeps
  readonly #synced = Promise.withResolvers<void>()

  constructor(deps: FollowerDeps, kind: ApiKind) {
    this.#deps = deps
    this.kind = kind
  }

  /** Follows all objects of the kind until the signal aborts. */
  run(signal: AbortSignal): Promise<never> {
    return runListWatch<T>(
      {
        ...this.#deps,
        path: this.#path('', ''),
        ...(this.kind.fieldSelector !== undefined && { query: { fieldSelector: this.kind.fieldSelector } }),
        onReplace: (items, version) => {
          this.known.replace(items, version)
          this.#synced.resolve()
        },
        onEvent: (event) => this.known.apply(event),
      },
      signal,
    )
  }

  /** Resolves when all objects were read at least once. */
  async untilSynced(signal: AbortSignal): Promise<void> {
    await waitForShared(this.#synced.promise, signal)
  }

  /** As the API has it at this moment; undefined when it is gone. */
  async read(namespace: string, name: string, signal: AbortSignal): Promise<Live<T> | undefined> {
    try {
      const object = await this.#send<T>({ method: 'GET', path: this.#path(namespace, name) }, signal)
      return this.known.wrote(object)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async create(namespace: string, object: T, signal: AbortSignal): Promise<Live<T>> {
    const { apiVersion, kind } = this.kind
    const body = { apiVersion, kind, ...object }
    return this.known.wrote(await this.#send<T>({ method: 'POST', path: this.#path(namespace, ''), body }, signal))
  }

  /** Replaces the object; fails when it is no longer as it was when we read it. */
  update(object: Live<T>, signal: AbortSignal): Promise<Live<T>> {
    return this.#put(object, '', signal)
  }

  updateStatus(object: Live<T>, signal: AbortSignal): Promise<Live<T>> {
    return this.#put(object, '/status', signal)
  }

  /** Merges fields into the object; only into the very one that we know. */
  async patch({ metadata }: Live<T>, body: { readonly metadata?: object }, signal: AbortSignal): Promise<Live<T>> {
    const { namespace, name, uid, resourceVersion } = metadata
    const patched = await this.#send<T>(
      {
        method: 'PATCH',
        path: this.#path(namespace, name),
        contentType: 'application/merge-patch+json',
        body: { ...body, metadata: { ...body.metadata, uid, resourceVersion } },
      },
      signal,
    )
    return this.known.wrote(patched)
  }

  /** Merges fields into the status, conditions by their type, whatever others have written meanwhile. */
  async patchStatus({ metadata }: Live<T>, status: object, signal: AbortSignal): Promise<Live<T>> {
    const { namespace, name, uid } = metadata
    const path = `${this.#path(namespace, name)}/status`
    const contentType = 'application/strategic-merge-patch+json'
    const body = { metadata: { uid }, status }
    return this.known.wrote(await this.#send<T>({ method: 'PATCH', path, contentType, body }, signal))
  }

  /** Deletes the very object that we know; one that is gone already is as good. */
  async remove(object: Live<T>, options: DeleteOptions, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = object.metadata
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid }, ...options }
    try {
      const answer = await this.#send<T & { readonly kind?: string }>(
        { method: 'DELETE', path: this.#path(namespace, name), body },
        signal,
      )
      if (answer.kind === this.kind.kind && isLeaving(answer)) this.known.wrote(answer)
      else this.known.lost(object)
    } catch (error) {
      if (!isNotFound(error)) throw error
      this.known.lost(object)
    }
  }

  async #put(object: Live<T>, subresource: string, signal: AbortSignal): Promise<Live<T>> {
    const { namespace, name } = object.metadata
    const { apiVersion, kind } = this.kind
    const path = `${this.#path(namespace, name)}${subresource}`
    return this.known.wrote(await this.#send<T>({ method: 'PUT', path, body: { apiVersion, kind, ...object } }, signal))
  }

  #send<R>(request: KubeRequest, signal: AbortSignal): Promise<R> {
    return this.#deps.client.send<R>({ timeoutMs: REQUEST_MS, ...request }, signal)
  }

  #path(namespace: string, name: string): string {
    const { apiVersion, plural } = this.kind
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const scope = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`
    return `${root}${scope}/${plural}${name === '' ? '' : `/${encodeURIComponent(name)}`}`
  }
}

// One request that hangs holds up one object, and that no longer than this.
const REQUEST_MS = 30_000

/** Whether a deleted object is still there: for its grace, or for its finalizers. Otherwise the answer shows its last state. */
function isLeaving({ metadata }: { readonly metadata?: ObjectMeta | undefined }): boolean {
  if (metadata?.deletionTimestamp === undefined) return false
  return (metadata.deletionGracePeriodSeconds ?? 0) > 0 || (metadata.finalizers ?? []).length > 0
}

export function isAlreadyThere(error: unknown): boolean {
  return error instanceof KubeApiError && error.reason === 'AlreadyExists'
}

/** The namespace of what was to be created is being deleted: there is nothing to complain about. */
export function isNamespaceEnding(error: unknown): boolean {
  return error instanceof KubeApiError && error.code === 403 && error.message.includes('because it is being terminated')
}

import type { Clock } from '../../base/async/clock.ts'
import { BackOff } from '../../base/async/back-off.ts'
import type { Node } from '../../model/generated/core-v1.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { FailureLog } from './failure-log.ts'
import type { Lease } from './lease.ts'
import { isRejection, isSilence } from './node-api.ts'
import type { NodeApi } from './node-api.ts'
import { toApiMicroTime } from '../../model/text/api-time.ts'

export interface LeaseHolderDeps {
  readonly api: Pick<NodeApi, 'getNode' | 'getLease' | 'createLease' | 'replaceLease'>
  readonly nodeName: string
  readonly durationSeconds: number
  /** The API is silent: connections may be dead without knowing it. */
  readonly dropConnections: () => void
  readonly clock: Clock
  readonly log: Logger
}

interface Found {
  /** Undefined while there is no Node object that a lease could belong to. */
  readonly lease: Lease | undefined
  readonly isNew: boolean
}

const TRIES = 5
const RETRIES = { firstMs: 100, longestMs: 7000 }

/** Holds the lease of the node. In the usual case renewing it is one request. */
export class LeaseHolder {
  readonly #deps: LeaseHolderDeps
  readonly #failures: FailureLog
  /** The last answer of the API: no other client writes the lease. */
  #known: Lease | undefined

  constructor(deps: LeaseHolderDeps) {
    this.#deps = deps
    this.#failures = new FailureLog(deps.log, 'renew the lease of the node')
  }

  /** Renews the lease, or makes it. It is left for the next time while there is no Node object that it could belong to. */
  async renew(signal: AbortSignal): Promise<void> {
    if (this.#known !== undefined && (await this.#replace(this.#known, signal))) return
    const { lease, isNew } = await this.#find(signal)
    this.#known = lease
    if (isNew) this.#failures.worked()
    else if (lease !== undefined) await this.#replace(lease, signal)
  }

  async #replace(lease: Lease, signal: AbortSignal): Promise<boolean> {
    const { api, dropConnections } = this.#deps
    let base: Lease | undefined = lease
    for (let tries = 1; tries <= TRIES && base !== undefined; tries += 1) {
      try {
        this.#known = await api.replaceLease(await this.#renewed(base, signal), signal)
        this.#failures.worked()
        return true
      } catch (error) {
        signal.throwIfAborted()
        this.#failures.failed(error)
        if (isRejection(error, 'NotFound')) return false
        if (isRejection(error, 'Conflict')) base = (await this.#find(signal)).lease
        else if (tries > 1 && isSilence(error)) dropConnections()
      }
    }
    return false
  }

  /** Asks for the lease until there is an answer; makes it when there is none. */
  async #find(signal: AbortSignal): Promise<Found> {
    const backOff = new BackOff(RETRIES)
    for (;;) {
      try {
        return await this.#findOnce(signal)
      } catch (error) {
        signal.throwIfAborted()
        this.#failures.failed(error)
      }
      await this.#deps.clock.sleep(backOff.next(), signal)
    }
  }

  async #findOnce(signal: AbortSignal): Promise<Found> {
    const { api } = this.#deps
    try {
      return { lease: await api.getLease(signal), isNew: false }
    } catch (error) {
      if (!isRejection(error, 'NotFound')) throw error
    }
    const node = await this.#findOwner(signal)
    if (node === undefined) return { lease: undefined, isNew: false }
    return { lease: await api.createLease(this.#compute(undefined, node), signal), isNew: true }
  }

  async #findOwner(signal: AbortSignal): Promise<Node | undefined> {
    try {
      return await this.#deps.api.getNode(signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#failures.failed(error)
      return undefined
    }
  }

  /** The owner is asked for only while the lease has none. */
  async #renewed(base: Lease, signal: AbortSignal): Promise<Lease> {
    const isOwned = (base.metadata?.ownerReferences ?? []).length > 0
    return this.#compute(base, isOwned ? undefined : await this.#deps.api.getNode(signal))
  }

  #compute(base: Lease | undefined, node: Node | undefined): Lease {
    const { nodeName, durationSeconds, clock } = this.#deps
    return computeLease(base, { nodeName, durationSeconds, renewTime: toApiMicroTime(clock.now()), node })
  }
}

/** A lease that is renewed now: the one that there is, or a new one. It belongs to the Node object, and goes with it. */
function computeLease(
  base: Lease | undefined,
  info: {
    readonly nodeName: string
    readonly durationSeconds: number
    readonly renewTime: string
    /** Undefined while it is not known. */
    readonly node: Node | undefined
  },
): Lease {
  const { nodeName, durationSeconds, renewTime, node } = info
  const uid = node?.metadata?.uid
  const isOwned = (base?.metadata?.ownerReferences ?? []).length > 0
  const owner =
    isOwned || uid === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid }] }
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: nodeName, namespace: 'kube-node-lease', ...base?.metadata, ...owner },
    spec: { holderIdentity: nodeName, ...base?.spec, leaseDurationSeconds: durationSeconds, renewTime },
  }
}

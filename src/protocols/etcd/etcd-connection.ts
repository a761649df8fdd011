import type { Clock } from '../../base/async/clock.ts'
import { GrpcCallError } from '../grpc/grpc-call-error.ts'
import { GrpcChannel } from '../grpc/grpc-channel.ts'
import type { GrpcTls } from '../grpc/grpc-channel.ts'
import { toGrpcMethod } from '../grpc/grpc-method.ts'
import { AuthDefinition, Event_EventType, KVDefinition, WatchDefinition } from './generated/etcd.ts'
import type { KeyValue, ResponseHeader, WatchResponse } from './generated/etcd.ts'

const range = toGrpcMethod(KVDefinition.fullName, KVDefinition.methods.range)
const watch = toGrpcMethod(WatchDefinition.fullName, WatchDefinition.methods.watch)
const authenticate = toGrpcMethod(AuthDefinition.fullName, AuthDefinition.methods.authenticate)

// A member that defragments its store stalls for seconds.
const CALL_TIMEOUT_MS = 10_000
// The server closes connections that ping more often than every five seconds.
const PING_MS = 10_000
// A value has at most 1.5 MiB, a page of them may have many.
const PAGE_KEYS = 200n
const LARGEST_REPLY_BYTES = 512 * 1024 * 1024
// A member that is cut off from the others says so instead of staying silent.
const NEEDS_LEADER = { hasleader: 'true' }

/** A member of an etcd cluster, and what it takes to read there. */
export interface EtcdOptions {
  /** Such as "https://10.0.0.1:2379". */
  readonly server: string
  readonly tls: GrpcTls | undefined
  readonly user: { readonly name: string; readonly password: string } | undefined
  /** How often a silent member is asked whether it is there, and how long it may take to answer. */
  readonly pingMs?: number
  readonly clock: Clock
}

/** All keys from the first one up to, and without, the other. */
export interface KeyRange {
  readonly from: string
  readonly to: string
}

/** When in the life of a store something was: revisions grow, and another store has another id. */
export interface StoreTime {
  readonly clusterId: bigint
  readonly revision: bigint
}

/** A key and its value; undefined: the key is gone. */
export interface EtcdChange {
  readonly key: string
  readonly value: Uint8Array | undefined
}

/** Changes, with how far the store is. */
export interface EtcdChanges extends StoreTime {
  /** With these, all changes up to this revision are known. A store that still has older ones to send is further than that. */
  readonly knownTo: bigint
  readonly changes: readonly EtcdChange[]
}

/** The changes since a revision are gone: everything has to be read again. */
export class EtcdHistoryError extends Error {
  override readonly name = 'EtcdHistoryError'
}

/** One connection to one member of an etcd cluster, for reading keys. */
export class EtcdConnection implements Disposable {
  readonly #channel: GrpcChannel
  readonly #user: EtcdOptions['user']
  #headers: Promise<Readonly<Record<string, string>>> | undefined

  constructor({ server, tls, user, pingMs = PING_MS, clock }: EtcdOptions) {
    const { protocol, hostname, port } = new URL(server)
    this.#user = user
    this.#channel = new GrpcChannel({
      target: `dns:${hostname}:${port || '2379'}`,
      clock,
      tls: protocol === 'https:' ? (tls ?? {}) : undefined,
      pingMs,
      largestReplyBytes: LARGEST_REPLY_BYTES,
    })
  }

  /** What the keys of a range hold, all as of one revision. */
  async list({ from, to }: KeyRange, signal: AbortSignal): Promise<EtcdChanges> {
    const changes: EtcdChange[] = []
    let key = Buffer.from(from)
    let time: StoreTime | undefined
    for (;;) {
      const options = { headers: await this.#authenticated(signal), timeoutMs: CALL_TIMEOUT_MS }
      const page = { key, rangeEnd: Buffer.from(to), limit: PAGE_KEYS, revision: time?.revision ?? 0n }
      const { header, kvs, more } = await this.#channel.unary(range, page, options, signal)
      time ??= toStoreTime(header)
      changes.push(...kvs.map(toPut))
      const last = kvs.at(-1)
      if (!more || last === undefined) return { ...time, knownTo: time.revision, changes }
      key = Buffer.concat([last.key, Buffer.of(0)])
    }
  }

  /**
   * The changes of a range from a revision on, revision by revision, and now and then none, which shows that there were none. The first answer
   * says how far the store is. Throws EtcdHistoryError when the store has forgotten that revision.
   */
  async *watch({ from, to }: KeyRange, revision: bigint, signal: AbortSignal): AsyncGenerator<EtcdChanges, void> {
    const headers = { ...(await this.#authenticated(signal)), ...NEEDS_LEADER }
    const createRequest = {
      key: Buffer.from(from),
      rangeEnd: Buffer.from(to),
      startRevision: revision,
      progressNotify: true,
      fragment: true,
    }
    let knownTo = revision - 1n
    let parts: EtcdChange[] = []
    for await (const reply of this.#channel.stream(watch, { createRequest }, { headers }, signal)) {
      checkWatch(reply)
      parts.push(...reply.events.map(({ type, kv }) => toChange(type === Event_EventType.DELETE, kv)))
      knownTo = computeKnownTo(reply, knownTo)
      if (reply.fragment) continue
      yield { ...toStoreTime(reply.header), knownTo, changes: parts }
      parts = []
    }
    throw new GrpcCallError({ method: 'Watch', code: 'Unavailable', detail: 'the server ended the watch' })
  }

  /** Asked once for each connection: a token ends with the member that gave it. */
  async #authenticated(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    this.#headers ??= this.#authenticate(signal)
    return await this.#headers
  }

  async #authenticate(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    if (this.#user === undefined) return {}
    try {
      const { token } = await this.#channel.unary(authenticate, this.#user, { timeoutMs: CALL_TIMEOUT_MS }, signal)
      return { token }
    } catch (error) {
      if (error instanceof GrpcCallError && error.detail.includes('authentication is not enabled')) return {}
      throw error
    }
  }

  [Symbol.dispose](): void {
    this.#channel.close()
  }
}

function checkWatch({ canceled, compactRevision, cancelReason }: WatchResponse): void {
  if (compactRevision !== 0n) throw new EtcdHistoryError(`Changes before revision ${compactRevision} are forgotten`)
  if (/future revision|compacted/.test(cancelReason)) throw new EtcdHistoryError(cancelReason)
  if (!canceled) return
  const code = cancelReason.includes('permission denied') ? 'PermissionDenied' : 'Aborted'
  throw new GrpcCallError({ method: 'Watch', code, detail: cancelReason || 'the server cancelled the watch' })
}

/**
 * How far the changes are known after a reply. Its header says how far the store is: that of a new watch, or of the first of many replies about
 * the past, is ahead of the changes that it has sent. Only a reply without changes says that there are none up to there.
 */
function computeKnownTo({ created, events, header }: WatchResponse, before: bigint): bigint {
  if (created) return before
  return events.at(-1)?.kv?.modRevision ?? header?.revision ?? before
}

function toStoreTime(header: ResponseHeader | undefined): StoreTime {
  return { clusterId: header?.clusterId ?? 0n, revision: header?.revision ?? 0n }
}

function toPut({ key, value }: KeyValue): EtcdChange {
  return { key: Buffer.from(key).toString(), value }
}

function toChange(isDelete: boolean, kv: KeyValue | undefined): EtcdChange {
  const key = Buffer.from(kv?.key ?? new Uint8Array()).toString()
  return { key, value: isDelete ? undefined : kv?.value }
}

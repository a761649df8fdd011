import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import type { TaskGroup } from '../../base/async/task-group.ts'
import { waitForShared } from '../../base/async/wait-for-shared.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { ObjectCache } from '../../protocols/kube-api/followers/object-cache.ts'
import type { KubeClient } from '../../protocols/kube-api/kube-client.ts'
import type { ListWatchDeps } from '../../protocols/kube-api/list-watch/run-list-watch.ts'
import { runListWatch } from '../../protocols/kube-api/list-watch/run-list-watch.ts'
import type { Pod } from '../../model/pod/pod.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { PodEvents } from '../../model/events/pod-events.ts'
import { parseCertificates } from '../../protocols/x509/certificate-files.ts'
import { createPodKey } from './create-pod-key.ts'
import { toRequestObject, toRequestOutcome } from './pod-certificate-request.ts'
import type { PodCertificateRequest, RequestOutcome, WantedPodCertificate } from './pod-certificate-request.ts'

export interface PodCertificatesDeps extends Pick<ListWatchDeps<PodCertificateRequest>, 'apiReturn'> {
  readonly client: KubeClient
  readonly nodeName: string
  /** Of the Node object; undefined while there is none. */
  readonly nodeUid: () => string | undefined
  readonly events: PodEvents
  readonly tasks: Pick<TaskGroup, 'run' | 'runLoop' | 'signal'>
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/** A key with its certificate and those that vouch for it, in PEM form. */
export interface PodCredentials {
  readonly keyPem: string
  readonly chainPem: string
}

/** How many certificates of a signer are in a state, by the names of the Go kubelet. */
export interface CertificateCount {
  readonly signer: string
  readonly state: 'not_yet_issued' | 'fresh' | 'overdue_for_refresh' | 'expired' | 'denied' | 'failed'
}

interface Entry {
  readonly signer: string
  readonly wakeup: Wakeup
  credentials: (PodCredentials & { readonly refreshAt: number; readonly notAfter: number }) | undefined
  /** The request under way; never rejects. */
  asking: Promise<void> | undefined
  /** For good: the signer does not want this pod. */
  refusal: { readonly state: 'denied' | 'failed'; readonly text: string } | undefined
  /** For now. */
  problem: string
  reported: 'nothing' | 'overdue' | 'expired'
  askedAt: number
}

const COLLECTION = '/apis/certificates.k8s.io/v1beta1'
const FIRST_MS = 30_000
const LOST_MS = 600_000
const JITTER_MS = 300_000
const OVERDUE_MS = 600_000
// A volume that is mounted asks at least every other minute.
const FORGET_MS = 1_800_000

/** Certificates of pods: asked for when a volume wants one, and again long before it ends. Only in memory: a new agent asks again. */
export class PodCertificates {
  readonly #deps: PodCertificatesDeps
  readonly #requests = new ObjectCache<PodCertificateRequest>()
  readonly #entries = new Map<string, Entry>()
  #isFollowing = false

  constructor(deps: PodCertificatesDeps) {
    this.#deps = deps
  }

  get size(): number {
    return this.#entries.size
  }

  /** The state of each certificate that a volume asks for. */
  states(): readonly CertificateCount[] {
    const now = this.#deps.clock.now()
    return [...this.#entries.values()].map((entry) => ({ signer: entry.signer, state: stateOf(entry, now) }))
  }

  /** Fails while there is none, and for good when the signer refused. */
  async get(wanted: WantedPodCertificate, signal: AbortSignal): Promise<PodCredentials> {
    const { clock } = this.#deps
    this.#sweep()
    const { namespace, name, uid } = wanted.pod.metadata
    const key = JSON.stringify([namespace, name, uid, wanted.volume, wanted.index])
    const entry = this.#entries.getOrInsertComputed(key, () => createEntry(wanted.source.signerName))
    entry.askedAt = clock.monotonic()
    const isDue = entry.credentials === undefined || clock.now() >= entry.credentials.refreshAt
    if (isDue && entry.refusal === undefined) entry.asking ??= this.#ask(entry, wanted)
    if (entry.credentials === undefined && entry.asking !== undefined) {
      const limit = { clock, ms: FIRST_MS, what: `the certificate of signer "${wanted.source.signerName}"` }
      const { asking } = entry
      await withDeadline(limit, (late) => waitForShared(asking, late), signal)
    }
    if (entry.refusal !== undefined) throw new Error(`Cannot have a certificate for the pod: ${entry.refusal.text}`)
    if (entry.credentials === undefined) throw new Error(`Cannot have a certificate for the pod: ${entry.problem}`)
    this.#reportLateness(entry, wanted.pod)
    return entry.credentials
  }

  async #ask(entry: Entry, wanted: WantedPodCertificate): Promise<void> {
    const { tasks, log } = this.#deps
    try {
      await this.#request(entry, wanted, tasks.signal)
    } catch (error) {
      entry.problem = errorMessage(error)
      if (!tasks.signal.aborted)
        log.warn('cannot ask for a certificate of a pod', { uid: wanted.pod.metadata.uid, error })
    } finally {
      entry.asking = undefined
    }
  }

  async #request(entry: Entry, wanted: WantedPodCertificate, signal: AbortSignal): Promise<void> {
    const { client, events, random } = this.#deps
    this.#follow()
    const { namespace } = wanted.pod.metadata
    const podKey = await createPodKey(wanted.source.keyType)
    const body = toRequestObject(wanted, podKey, await this.#readIds(wanted.pod, signal))
    const path = `${COLLECTION}/namespaces/${encodeURIComponent(namespace)}/podcertificaterequests`
    const created = await client.send<PodCertificateRequest>({ method: 'POST', path, body }, signal)
    const outcome = await this.#waitFor(entry, { namespace, name: created.metadata?.name ?? '' }, signal)
    if (outcome.kind === 'pending') throw new Error('the signer did not answer in time, or the request was deleted')
    if (outcome.kind === 'issued') {
      const chainPem = parseCertificates(outcome.chain).map(String).join('')
      const refreshAt = outcome.beginRefreshAt + random() * JITTER_MS
      entry.credentials = { keyPem: podKey.keyPem, chainPem, refreshAt, notAfter: outcome.notAfter }
      entry.reported = 'nothing'
      return
    }
    const { kind, reason, message } = outcome
    const state = kind === 'Denied' ? 'denied' : 'failed'
    entry.refusal = { state, text: `the signer said ${kind}: ${reason}: ${message}` }
    const result = `${kind === 'Denied' ? 'was denied' : 'failed'}, reason="${reason}", message="${message}"`
    const text = `PodCertificateRequest ${namespace}/${created.metadata?.name ?? ''} ${result}`
    events.record(wanted.pod, { type: 'Warning', reason: kind, message: text })
  }

  async #readIds({ metadata, spec }: Pod, signal: AbortSignal) {
    const { client, nodeName, nodeUid } = this.#deps
    const accountName = spec.serviceAccountName ?? 'default'
    const [namespace, name] = [metadata.namespace, accountName].map(encodeURIComponent)
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`
    const account = await client.send<PodCertificateRequest>({ method: 'GET', path }, signal)
    const ownUid = nodeUid()
    if (ownUid === undefined) throw new Error('the Node object is not known yet')
    return { nodeName, nodeUid: ownUid, accountName, accountUid: account.metadata?.uid ?? '' }
  }

  /** Pending: there was no answer, or the request is gone. */
  async #waitFor(
    { wakeup }: Entry,
    { namespace, name }: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<RequestOutcome> {
    const { clock, random } = this.#deps
    const end = clock.monotonic() + LOST_MS + random() * JITTER_MS
    let wasSeen = false
    for (;;) {
      const request = this.#requests.get(namespace, name)
      const outcome: RequestOutcome = request === undefined ? { kind: 'pending' } : toRequestOutcome(request)
      const isGone = wasSeen && request === undefined
      const ms = end - clock.monotonic()
      if (outcome.kind !== 'pending' || isGone || ms <= 0) return outcome
      wasSeen = request !== undefined
      await wakeup.wait({ clock, ms }, signal)
    }
  }

  #follow(): void {
    const { tasks, nodeName } = this.#deps
    if (this.#isFollowing) return
    this.#isFollowing = true
    const ring = () => {
      for (const { wakeup } of this.#entries.values()) wakeup.wake()
    }
    const list: ListWatchDeps<PodCertificateRequest> = {
      ...this.#deps,
      path: `${COLLECTION}/podcertificaterequests`,
      // A node may see its own and no others.
      query: { fieldSelector: `spec.nodeName=${nodeName}` },
      onReplace: (items) => {
        this.#requests.replace(items)
        ring()
      },
      onEvent: (event) => {
        this.#requests.apply(event)
        ring()
      },
    }
    tasks.runLoop('certificate requests of pods', (signal) => runListWatch(list, signal))
  }

  #reportLateness(entry: Entry, pod: Pod): void {
    const { clock, events } = this.#deps
    const { refreshAt, notAfter } = entry.credentials ?? { refreshAt: Infinity, notAfter: Infinity }
    const now = clock.now()
    const report = (reported: Entry['reported'], reason: string, message: string) => {
      entry.reported = reported
      events.record(pod, { type: 'Warning', reason, message })
    }
    if (now > notAfter && entry.reported !== 'expired')
      report('expired', 'CertificateExpired', 'PodCertificate expired')
    else if (now > refreshAt + OVERDUE_MS && entry.reported === 'nothing')
      report('overdue', 'CertificateOverdueForRefresh', 'PodCertificate refresh overdue')
  }

  /** Of pods that are gone. */
  #sweep(): void {
    const since = this.#deps.clock.monotonic() - FORGET_MS
    for (const [key, { askedAt, asking }] of this.#entries)
      if (asking === undefined && askedAt < since) this.#entries.delete(key)
  }
}

function stateOf({ refusal, credentials }: Entry, now: number): CertificateCount['state'] {
  if (refusal !== undefined) return refusal.state
  if (credentials === undefined) return 'not_yet_issued'
  if (now > credentials.notAfter) return 'expired'
  return now > credentials.refreshAt + OVERDUE_MS ? 'overdue_for_refresh' : 'fresh'
}

function createEntry(signer: string): Entry {
  return {
    signer,
    wakeup: new Wakeup(),
    credentials: undefined,
    asking: undefined,
    refusal: undefined,
    problem: 'it was not asked for yet',
    reported: 'nothing',
    askedAt: 0,
  }
}

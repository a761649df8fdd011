import { createHash } from 'node:crypto'
import type { Clock } from '../../../base/async/clock.ts'
import { isTransient, throwIfTransient } from '../../../base/async/transient-errors.ts'
import type { RecordFolder, StateRecords } from '../../../system/files/state/create-record-folder.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import { computeAccessRights } from './compute-access-rights.ts'
import { computePullPermission, findProof } from './compute-pull-permission.ts'
import type { PullHistory, VerificationPolicy } from './compute-pull-permission.ts'
import { hashLogin } from './hash-login.ts'
import type { ImageMetrics } from '../../../metrics/image-metrics.ts'
import type { Credential } from './credential.ts'
import { toRepository } from '../../../model/pod/parse-image-name.ts'
import { formatPullIntent, formatPullRecord, parsePullIntent, parsePullRecord } from './pull-record.ts'
import type { ImageAccessRights, PullRecord, RecordedSecret } from './pull-record.ts'
import { toApiTime } from '../../../model/text/api-time.ts'

export interface ImageAccessDeps {
  readonly policy: VerificationPolicy | undefined
  readonly allowlist: readonly string[]
  /** A file for each image that was pulled. */
  readonly pulled: StateRecords
  /** A file for each image that is being pulled. */
  readonly pulling: RecordFolder
  readonly metrics?: ImageMetrics
  readonly clock: Clock
  readonly log: Logger
}

interface NamedImage {
  /** The complete name by which a pod asks for it. */
  readonly image: string
  /** What the runtime calls it. */
  readonly ref: string
}

/**
 * Remembers on disk which images were pulled with which credentials, so that an image of a private registry is not open to every pod
 * just because another pod pulled it. Records are those of the Go kubelet, byte for byte in their names, so either can go on.
 */
export class ImageAccess {
  readonly #deps: ImageAccessDeps
  readonly #pulls = new Map<string, number>()
  readonly #reportedUnreadable = new Set<string>()
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(deps: ImageAccessDeps) {
    // Names are compared in full, as records have them.
    this.#deps = { ...deps, allowlist: deps.allowlist.map(toFullPattern) }
  }

  /** May a pod use an image that is on the node? The pod's credentials are asked for only when it depends on them. */
  async mayUse(named: NamedImage, credentials: () => Promise<readonly Credential[]>): Promise<boolean> {
    const { policy, allowlist } = this.#deps
    const repository = toRepository(named.image)
    const history = policy === undefined ? { kind: 'none' as const } : await this.#readHistory(named)
    const permission = computePullPermission({ policy, allowlist, repository, history })
    if (typeof permission === 'string') {
      this.#deps.metrics?.imageChecked(permission === 'use' ? 'credentialPolicyAllowed' : 'mustAuthenticate')
      return permission === 'use'
    }
    const candidates = await credentials()
    const serviceAccount = candidates.find(({ account }) => account !== undefined)?.account
    const secrets = candidates.flatMap(toRecordedSecret)
    const proof = findProof(permission.rights, { secrets, serviceAccount })
    if (proof?.newSecret !== undefined) await this.#record(named, { kubernetesSecrets: [proof.newSecret] })
    this.#deps.metrics?.imageChecked(proof === undefined ? 'mustAuthenticate' : 'credentialRecordFound')
    return proof !== undefined
  }

  /** Notes that a pull begins: should the agent die now, the image does not count as one that was always there. */
  async begin(image: string): Promise<void> {
    if (this.#deps.policy === undefined) return
    this.#pulls.set(image, (this.#pulls.get(image) ?? 0) + 1)
    try {
      await this.#deps.pulling.write(toFileName(image), formatPullIntent(image))
      await this.#count()
    } catch (error) {
      await this.fail(image)
      throw error
    }
  }

  /** A pull succeeded, with this login or without one. When that cannot be noted, the beginning stays noted instead. */
  async succeed(named: NamedImage, credential: Credential | undefined): Promise<void> {
    if (this.#deps.policy === undefined) return
    if (await this.#record(named, toRights(credential))) await this.fail(named.image)
  }

  /** A pull ended without an image. */
  async fail(image: string): Promise<void> {
    if (this.#deps.policy === undefined) return
    const others = (this.#pulls.get(image) ?? 1) - 1
    if (others > 0) {
      this.#pulls.set(image, others)
      return
    }
    this.#pulls.delete(image)
    await this.#try('cannot forget the begin of a pull', image, () => this.#deps.pulling.remove(toFileName(image)))
    await this.#count()
  }

  /** After a start: pulls that the last agent did not see end get a record which opens the image to no pod. */
  async recover(findRef: (image: string) => Promise<string | undefined>): Promise<void> {
    const { policy, pulling } = this.#deps
    if (policy === undefined) return
    await this.#forEach(pulling, 'cannot make sense of the begin of a pull', async (name) => {
      const image = parsePullIntent((await pulling.read(name)) ?? '')
      const ref = await findRef(image)
      if (ref === undefined || (await this.#record({ image, ref }, undefined))) await pulling.remove(name)
    })
    await this.#count()
  }

  /** Removes the records of images that are gone; one that was written after `before` may be of an image that came since. */
  async prune(refs: ReadonlySet<string>, before: number): Promise<void> {
    const { policy, pulled } = this.#deps
    if (policy === undefined) return
    const known = new Set([...refs].map(toFileName))
    // Records have whole seconds.
    const second = Math.floor(before / 1000) * 1000
    await this.#forEach(pulled, 'cannot remove the record of a pull', async (name) => {
      const record = known.has(name) ? undefined : await this.#inTurn(() => this.#readKnown(name))
      if (record !== undefined && Date.parse(record.lastUpdatedTime) < second) await pulled.remove(name)
    })
    await this.#count()
  }

  async #count(): Promise<void> {
    const { pulled, pulling, metrics } = this.#deps
    if (metrics === undefined) return
    await this.#try('cannot count the records of pulls', 'all', async () => {
      metrics.pullRecords({ pulled: (await pulled.names()).length, pulling: (await pulling.names()).length })
    })
  }

  /** What is wrong with one file, or with all of them, stops nothing. */
  async #forEach(folder: RecordFolder, problem: string, act: (name: string) => Promise<void>): Promise<void> {
    await this.#try(problem, 'all', async () => {
      for (const name of await folder.names()) await this.#try(problem, name, () => act(name))
    })
  }

  async #readHistory({ image, ref }: NamedImage): Promise<PullHistory> {
    const name = toFileName(ref)
    try {
      const text = await this.#deps.pulled.read(name)
      this.#reportedUnreadable.delete(name)
      if (text !== undefined) return { kind: 'recorded', record: parsePullRecord(text) }
      if (this.#pulls.has(image)) return { kind: 'begun' }
      const intent = await this.#deps.pulling.read(toFileName(image))
      return { kind: intent === undefined ? 'none' : 'begun' }
    } catch (error) {
      if (!this.#reportedUnreadable.has(name)) {
        this.#reportedUnreadable.add(name)
        const problem = 'cannot read the record of a pull, the image is verified again'
        this.#deps.log.warn(problem, { image, file: name, error })
        if (!isTransient(error)) await this.#replaceBroken({ image, ref })
      }
      return { kind: 'unreadable' }
    }
  }

  /** The image counts as one that is being pulled until it has a record again: without either it would be open to every pod. */
  async #replaceBroken(named: NamedImage): Promise<void> {
    await this.#try('cannot replace the broken record of a pull', named.image, async () => {
      await this.begin(named.image)
      if (await this.#record(named, undefined)) await this.fail(named.image)
    })
  }

  /** Adds rights to a record. False when it could not be written. */
  async #record(named: NamedImage, rights: ImageAccessRights | undefined): Promise<boolean> {
    const write = () => this.#writeRecord(named, rights)
    return await this.#try('cannot write the record of a pull', named.image, () => this.#inTurn(write))
  }

  /** One at a time, because each reads what the one before wrote. */
  async #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const turn = this.#lastWrite
    this.#lastWrite = promise
    await turn
    try {
      return await act()
    } finally {
      resolve()
    }
  }

  /** One that cannot be used is set aside: the next pull shows again what opens the image. */
  async #readKnown(name: string): Promise<PullRecord | undefined> {
    const { pulled } = this.#deps
    try {
      const text = await pulled.read(name)
      return text === undefined ? undefined : parsePullRecord(text)
    } catch (error) {
      throwIfTransient(error)
      await pulled.setAside(name)
      return undefined
    }
  }

  async #writeRecord({ image, ref }: NamedImage, rights: ImageAccessRights | undefined): Promise<void> {
    const { pulled, clock } = this.#deps
    const name = toFileName(ref)
    const known = await this.#readKnown(name)
    if (known !== undefined && rights === undefined) return
    const repository = toRepository(image)
    const mapping = known?.credentialMapping ?? {}
    const before = Object.hasOwn(mapping, repository) ? mapping[repository] : undefined
    const record: PullRecord = {
      imageRef: ref,
      lastUpdatedTime: toApiTime(clock.now()),
      credentialMapping:
        rights === undefined ? mapping : { ...mapping, [repository]: computeAccessRights(before ?? {}, rights) },
    }
    await pulled.write(name, formatPullRecord(record))
    this.#reportedUnreadable.delete(name)
  }

  /** What goes wrong with one file is logged, and stops nothing. */
  async #try(what: string, about: string, act: () => Promise<void>): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      this.#deps.log.warn(what, { about, error })
      return false
    }
  }
}

/** Whom a pull with this login opens the image to. */
function toRights(credential: Credential | undefined): ImageAccessRights {
  if (credential?.secret !== undefined) return { kubernetesSecrets: toRecordedSecret(credential) }
  if (credential?.account !== undefined) return { kubernetesServiceAccounts: [credential.account] }
  return { nodePodsAccessible: true }
}

function toRecordedSecret({ login, secret }: Credential): readonly RecordedSecret[] {
  if (secret === undefined) return []
  const { uid, namespace, name } = secret
  return [{ uid, namespace, name, credentialHash: hashLogin(login) }]
}

function toFileName(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('hex')}`
}

function toFullPattern(pattern: string): string {
  return pattern.endsWith('/*') ? pattern.replace(/^index\.docker\.io\//, 'docker.io/') : toRepository(pattern)
}

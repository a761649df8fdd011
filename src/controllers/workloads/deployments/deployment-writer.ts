import { errorMessage } from '../../../base/telemetry/error-text.ts'
import { sameValue } from '../../../base/document/same-value.ts'
import type { Deployment, DeploymentStatus, ReplicaSet } from '../../../model/generated/api-groups.ts'
import { toControllerReference } from '../ownership/claim-children.ts'
import { isAlreadyThere, isNamespaceEnding } from '../../engine/api-objects.ts'
import type { ControllerDeps } from '../../engine/controller-deps.ts'
import { controllerOf } from '../../engine/live-object.ts'
import type { Live } from '../../engine/live-object.ts'
import type { RecordEvent } from '../../engine/object-events.ts'
import { sameStatus } from '../../engine/same-status.ts'
import { hasDeadline, withCondition } from './compute-deployment-status.ts'
import { computeNewSet, computeRevision, computeSetAnnotations, computeSizeAnnotations } from './compute-revisions.ts'
import type { Resize } from './compute-rolling-step.ts'
import { REVISION, sameTemplate, sizeOf } from './deployment-sets.ts'
import type { DeploymentSets } from './deployment-sets.ts'

/** A deployment with its sets, as they are after the writes so far. */
export interface Rollout {
  readonly deployment: Live<Deployment>
  readonly sets: DeploymentSets
}

export type WriterDeps = Pick<ControllerDeps, 'clock' | 'deployments' | 'replicaSets'> & {
  readonly record: RecordEvent
}

/** The writes of one pass over a deployment. */
export class DeploymentWriter {
  readonly #deps: WriterDeps
  readonly #signal: AbortSignal

  constructor(deps: WriterDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
  }

  /** Gives the set of the present template its revision; makes it when it is missing, if it may. */
  async syncRevision(rollout: Rollout, mayCreate: boolean): Promise<Rollout> {
    const { deployment, sets } = rollout
    const { current } = sets
    if (current === undefined) return mayCreate ? await this.#createSet(rollout) : rollout
    const annotations = computeSetAnnotations(deployment, current, computeRevision(sets.old))
    const { minReadySeconds } = deployment.spec
    const isSame = (current.spec.minReadySeconds ?? 0) === (minReadySeconds ?? 0)
    if (!isSame || !sameValue(annotations, current.metadata.annotations)) {
      const { minReadySeconds: _, ...spec } = current.spec
      const changed = {
        ...current,
        metadata: { ...current.metadata, annotations },
        spec: { ...spec, ...(minReadySeconds !== undefined && { minReadySeconds }) },
      }
      return { deployment, sets: { ...sets, current: await this.#deps.replicaSets.update(changed, this.#signal) } }
    }
    const isKnown = deployment.status?.conditions?.some(({ type }) => type === 'Progressing') === true
    const message = `Found new replica set "${current.metadata.name}"`
    const progress = isKnown ? undefined : { reason: 'FoundNewReplicaSet', message }
    const revision = current.metadata.annotations?.[REVISION] ?? ''
    return { deployment: await this.#setRevision(deployment, revision, progress), sets }
  }

  /** Gives sets their sizes. */
  async resize({ deployment, sets }: Rollout, resizes: readonly Resize[]): Promise<Rollout> {
    const changed = new Map<Live<ReplicaSet>, Live<ReplicaSet>>()
    for (const each of resizes) changed.set(each.set, await this.#resizeOne(deployment, each))
    const replaced = (set: Live<ReplicaSet>) => changed.get(set) ?? set
    return { deployment, sets: { current: sets.current && replaced(sets.current), old: sets.old.map(replaced) } }
  }

  async writeStatus(deployment: Live<Deployment>, status: DeploymentStatus): Promise<Live<Deployment>> {
    if (sameStatus(status, deployment.status)) return deployment
    return await this.#deps.deployments.updateStatus({ ...deployment, status }, this.#signal)
  }

  async removeSets(expired: readonly Live<ReplicaSet>[]): Promise<void> {
    for (const set of expired) {
      const preconditions = { uid: set.metadata.uid, resourceVersion: set.metadata.resourceVersion }
      await this.#deps.replicaSets.remove(set, { preconditions }, this.#signal)
    }
  }

  async #resizeOne(deployment: Live<Deployment>, { set, size }: Resize): Promise<Live<ReplicaSet>> {
    const annotations = { ...set.metadata.annotations, ...computeSizeAnnotations(deployment) }
    const before = sizeOf(set)
    if (before === size && sameValue(annotations, set.metadata.annotations)) return set
    const metadata = { ...set.metadata, annotations }
    const changed = await this.#deps.replicaSets.update(
      { ...set, metadata, spec: { ...set.spec, replicas: size } },
      this.#signal,
    )
    if (before !== size) this.#recordScaling(deployment, set.metadata.name, before, size)
    return changed
  }

  async #createSet(rollout: Rollout): Promise<Rollout> {
    const { deployments, replicaSets } = this.#deps
    const { deployment, sets } = rollout
    const wanted = computeNewSet(deployment, sets.old)
    const { name } = wanted.metadata
    const ownerReferences = [toControllerReference(deployments.kind, deployment.metadata)]
    const { namespace, uid } = deployment.metadata
    const metadata = { ...wanted.metadata, ownerReferences }
    // Its sets go with a Deployment: that they are gone may be known before it is known that it is.
    const live = await deployments.read(namespace, deployment.metadata.name, this.#signal)
    if (live?.metadata.uid !== uid) throw new Error(`Cannot create replica set "${name}": its Deployment is gone`)
    try {
      const current = await replicaSets.create(namespace, { ...wanted, metadata }, this.#signal)
      if (sizeOf(current) > 0) this.#recordScaling(deployment, name, 0, sizeOf(current))
      const progress = { reason: 'NewReplicaSetCreated', message: `Created new replica set "${name}"` }
      const revision = String(computeRevision(sets.old))
      return { deployment: await this.#setRevision(deployment, revision, progress), sets: { ...sets, current } }
    } catch (error) {
      if (this.#signal.aborted || isNamespaceEnding(error)) throw error
      if (isAlreadyThere(error)) return await this.#takeOrAvoid(rollout, name)
      await this.#reportRefusal(deployment, name, error)
      throw error
    }
  }

  /** The name is taken: by our own set that we did not know of, or by another one, which a different hash avoids. */
  async #takeOrAvoid({ deployment, sets }: Rollout, name: string): Promise<Rollout> {
    const { namespace, uid } = deployment.metadata
    const present = await this.#deps.replicaSets.read(namespace, name, this.#signal)
    if (present !== undefined && controllerOf(present)?.uid === uid && isOurs(present, deployment))
      return { deployment, sets: { ...sets, current: present } }
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
    await this.writeStatus(deployment, { ...deployment.status, collisionCount })
    throw new Error(`Cannot create replica set "${name}": another one has this name; the next one has another hash`)
  }

  async #reportRefusal(deployment: Live<Deployment>, name: string, error: unknown): Promise<void> {
    const reason = 'ReplicaSetCreateError'
    const message = `Failed to create new replica set "${name}": ${errorMessage(error)}`
    this.#deps.record(deployment, 'Warning', reason, message)
    if (!hasDeadline(deployment)) return
    const condition = { type: 'Progressing', status: 'False', reason, message }
    const conditions = withCondition(deployment.status?.conditions ?? [], condition, this.#deps.clock.now())
    await this.writeStatus(deployment, { ...deployment.status, conditions })
  }

  async #setRevision(
    deployment: Live<Deployment>,
    revision: string,
    progress: { readonly reason: string; readonly message: string } | undefined,
  ): Promise<Live<Deployment>> {
    const annotations = { ...deployment.metadata.annotations, [REVISION]: revision }
    const before = deployment.status?.conditions ?? []
    const conditions =
      progress === undefined || !hasDeadline(deployment)
        ? before
        : withCondition(before, { type: 'Progressing', status: 'True', ...progress }, this.#deps.clock.now())
    const isSame = deployment.metadata.annotations?.[REVISION] === revision && sameValue(before, conditions)
    if (isSame) return deployment
    const metadata = { ...deployment.metadata, annotations }
    const status = { ...deployment.status, conditions }
    return await this.#deps.deployments.updateStatus({ ...deployment, metadata, status }, this.#signal)
  }

  #recordScaling(deployment: Live<Deployment>, name: string, from: number, to: number): void {
    const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${name} from ${from} to ${to}`
    this.#deps.record(deployment, 'Normal', 'ScalingReplicaSet', message)
  }
}

function isOurs(set: Live<ReplicaSet>, { spec }: Live<Deployment>): boolean {
  return sameTemplate(set.spec.template, spec.template)
}

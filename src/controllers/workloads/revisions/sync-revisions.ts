import { sameValue } from '../../../base/document/same-value.ts'
import type { ControllerRevision } from '../../../model/generated/api-groups.ts'
import type { LabelSelector, PodTemplateSpec } from '../../../model/generated/core-v1.ts'
import { matchesLabelSelector } from '../../../model/pod/matching/matches-label-selector.ts'
import type { KubeObject } from '../../../protocols/kube-api/list-watch/kube-object.ts'
import { claimChildren, toControllerReference } from '../ownership/claim-children.ts'
import { isAlreadyThere } from '../../engine/api-objects.ts'
import type { ApiObjects } from '../../engine/api-objects.ts'
import { hashText } from '../../engine/hash-text.ts'
import { controllerOf } from '../../engine/live-object.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeRevisionSync, toRevisionData } from './compute-revision-sync.ts'

export interface RevisionRequest<O extends KubeObject> {
  readonly owners: ApiObjects<O>
  readonly owner: Live<O>
  readonly revisions: ApiObjects<ControllerRevision>
  readonly selector: LabelSelector
  readonly template: PodTemplateSpec
  readonly collisions: number | undefined
  /** The label of a revision that has its hash. */
  readonly hashLabel: string
}

export interface SyncedRevisions {
  /** That of the present template. */
  readonly update: Live<ControllerRevision>
  readonly all: readonly Live<ControllerRevision>[]
}

/** Another revision has the name: the next try needs another hash. */
export class RevisionCollisionError extends Error {
  override readonly name = 'RevisionCollisionError'
}

const LONGEST_OWNER = 223

/** Keeps the templates of a workload as revisions; the newest is the present one. */
export async function syncRevisions<O extends KubeObject>(
  request: RevisionRequest<O>,
  signal: AbortSignal,
): Promise<SyncedRevisions> {
  const { owners, owner, revisions, selector, template } = request
  const matches = ({ metadata }: Live<ControllerRevision>) => matchesLabelSelector(selector, metadata.labels ?? {})
  const all = await claimChildren({ owners, owner, children: revisions, matches }, signal)
  const sync = computeRevisionSync(all, template)
  if (sync.kind === 'present') return { update: sync.revision, all }
  if (sync.kind === 'renumber') {
    const update = await revisions.update({ ...sync.revision, revision: sync.number }, signal)
    return { update, all: all.map((each) => (each === sync.revision ? update : each)) }
  }
  const update = await create(request, sync.number, signal)
  return { update, all: [...all, update] }
}

async function create<O extends KubeObject>(
  { owners, owner, revisions, template, collisions, hashLabel }: RevisionRequest<O>,
  revision: number,
  signal: AbortSignal,
): Promise<Live<ControllerRevision>> {
  const { namespace, uid, annotations } = owner.metadata
  const hash = hashText(template, collisions)
  const name = `${owner.metadata.name.slice(0, LONGEST_OWNER)}-${hash}`
  const data = toRevisionData(template)
  const metadata = {
    name,
    labels: { ...template.metadata?.labels, [hashLabel]: hash },
    ...(annotations && { annotations }),
    ownerReferences: [toControllerReference(owners.kind, owner.metadata)],
  }
  try {
    return await revisions.create(namespace, { metadata, data, revision }, signal)
  } catch (error) {
    if (!isAlreadyThere(error)) throw error
    const present = await revisions.read(namespace, name, signal)
    if (present !== undefined && controllerOf(present)?.uid === uid && sameValue(present.data, data)) return present
    throw new RevisionCollisionError(`Cannot create revision "${namespace}/${name}": another one has this name`)
  }
}

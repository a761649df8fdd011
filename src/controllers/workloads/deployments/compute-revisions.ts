import type { Deployment, ReplicaSet } from '../../../model/generated/api-groups.ts'
import { hashText } from '../../engine/hash-text.ts'
import type { Live } from '../../engine/live-object.ts'
import { computeRolloutLimits } from './compute-rollout-limits.ts'
import { computeFirstSize } from './compute-rolling-step.ts'
import {
  annotationNumber,
  DESIRED_REPLICAS,
  HASH_LABEL,
  MAX_REPLICAS,
  REVISION,
  REVISION_HISTORY,
  sizeOf,
} from './deployment-sets.ts'

type Annotations = Readonly<Record<string, string>>

const LONGEST_NAME = 253
const LONGEST_HISTORY = 2000
const KEEP_ALL = 2 ** 31 - 1
/** Annotations that are a deployment's, or a set's, own. */
const NOT_COPIED = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
])

/** The number that the present template gets. */
export function computeRevision(old: readonly Live<ReplicaSet>[]): number {
  return Math.max(0, ...old.map((set) => annotationNumber(set, REVISION) ?? 0)) + 1
}

/** What each set has to know of its deployment to be scaled in proportion. */
export function computeSizeAnnotations({ spec }: Live<Deployment>): Annotations {
  const { replicas = 1 } = spec
  return {
    [DESIRED_REPLICAS]: String(replicas),
    [MAX_REPLICAS]: String(replicas + computeRolloutLimits(spec).surge),
  }
}

/** The annotations of the present set: the deployment's, and its place in the history. */
export function computeSetAnnotations(
  { metadata }: Live<Deployment>,
  set: Live<ReplicaSet> | undefined,
  revision: number,
): Annotations {
  const own = set?.metadata.annotations ?? {}
  const copied = Object.entries(metadata.annotations ?? {}).filter(([name]) => !NOT_COPIED.has(name))
  const annotations: Annotations = { ...own, ...Object.fromEntries(copied) }
  const before = set === undefined ? undefined : annotationNumber(set, REVISION)
  if (set !== undefined && (before ?? 0) >= revision) return annotations
  const history = before === undefined ? undefined : addToHistory(own[REVISION_HISTORY], String(before))
  return { ...annotations, [REVISION]: String(revision), ...(history !== undefined && { [REVISION_HISTORY]: history }) }
}

/** The newest ones, as many as fit. */
function addToHistory(history: string | undefined, revision: string): string {
  const revisions = [...(history ?? '').split(',').filter(Boolean), revision]
  while (revisions.join(',').length > LONGEST_HISTORY) revisions.shift()
  return revisions.join(',')
}

/** The set that runs the deployment's present template. */
export function computeNewSet(
  deployment: Live<Deployment>,
  old: readonly Live<ReplicaSet>[],
): ReplicaSet & { readonly metadata: { readonly name: string } } {
  const { metadata, spec, status } = deployment
  const hash = hashText(spec.template, status?.collisionCount)
  const labels = { ...spec.template?.metadata?.labels, [HASH_LABEL]: hash }
  return {
    metadata: {
      name: `${metadata.name.slice(0, LONGEST_NAME - hash.length - 1)}-${hash}`,
      labels,
      annotations: {
        ...computeSetAnnotations(deployment, undefined, computeRevision(old)),
        ...computeSizeAnnotations(deployment),
      },
    },
    spec: {
      replicas: computeFirstSize(deployment, old),
      ...(spec.minReadySeconds !== undefined && { minReadySeconds: spec.minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  }
}

/** The old sets that are beyond the history that is kept; one that still has pods stays, and takes its place in the count. */
export function computeExpiredSets(
  { spec }: Live<Deployment>,
  old: readonly Live<ReplicaSet>[],
): readonly Live<ReplicaSet>[] {
  const { revisionHistoryLimit = 10 } = spec
  const kept = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const excess = kept.length - revisionHistoryLimit
  if (revisionHistoryLimit === KEEP_ALL || excess <= 0) return []
  return kept
    .toSorted((a, b) => (annotationNumber(a, REVISION) ?? 0) - (annotationNumber(b, REVISION) ?? 0))
    .slice(0, excess)
    .filter(
      (set) =>
        sizeOf(set) === 0 &&
        (set.status?.replicas ?? 0) === 0 &&
        Number(set.metadata.generation ?? 0) <= Number(set.status?.observedGeneration ?? 0),
    )
}

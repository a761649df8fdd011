import type { Deployment, ReplicaSet } from '../../src/model/generated/api-groups.ts'
import type { Pod } from '../../src/model/generated/core-v1.ts'

export interface ChurnState {
  readonly names: readonly string[]
  /** What the API has acknowledged. */
  readonly wanted: ReadonlyMap<string, { readonly replicas: number; readonly version: string }>
  /** Whose last change may or may not have been done. */
  readonly unsure: ReadonlySet<string>
  readonly deployments: readonly Deployment[]
  readonly sets: readonly ReplicaSet[]
  readonly pods: readonly Pod[]
}

const MOST_OLD_SETS = 2

/** What is not as it should be when all has come to rest. */
export function computeChurnProblems(state: ChurnState): readonly string[] {
  const owned = new Set<string>()
  const problems = state.names.flatMap((name) => problemsOf(state, name, owned))
  const strays = state.pods.map(({ metadata }) => metadata?.name ?? '').filter((name) => !owned.has(name))
  return [...problems, ...strays.map((name) => `the pod ${name} belongs to no Deployment`)]
}

function problemsOf(state: ChurnState, name: string, owned: Set<string>): readonly string[] {
  const deployment = state.deployments.find(({ metadata }) => metadata?.name === name)
  if (deployment === undefined) return [`${name} is gone`]
  const { metadata, spec, status = {} } = deployment
  const problems: string[] = []
  const say = (holds: boolean, what: string) => {
    if (!holds) problems.push(`${name}: ${what}`)
  }
  const replicas = spec?.replicas ?? 0
  const version = spec?.template.metadata?.annotations?.['version']
  const wanted = state.wanted.get(name)
  if (!state.unsure.has(name))
    say(
      replicas === wanted?.replicas && version === wanted.version,
      `an acknowledged change was lost: ${replicas} of ${version}, not ${wanted?.replicas} of ${wanted?.version}`,
    )
  const sets = state.sets.filter((set) => isOwnedBy(set, metadata?.uid))
  const uids = new Map(sets.map((set) => [set.metadata?.uid, set]))
  const pods = state.pods.filter((pod) => uids.has(ownerOf(pod) ?? ''))
  for (const pod of pods) owned.add(pod.metadata?.name ?? '')
  say(pods.length === replicas, `${pods.length} pods, not ${replicas}`)
  const versions = new Set(pods.map((pod) => pod.metadata?.annotations?.['version']))
  say(
    [...versions].every((each) => each === version),
    `pods of ${[...versions].join(' and ')}, not ${version}`,
  )
  say(
    pods.every((pod) => pod.status?.phase === 'Running' && pod.metadata?.deletionTimestamp === undefined),
    'not all pods run',
  )
  const active = sets.filter((set) => (set.spec?.replicas ?? 0) > 0)
  say(active.length === Math.min(1, replicas), `${active.length} sets with pods`)
  say(sets.length <= MOST_OLD_SETS + 1, `${sets.length} sets`)
  say(status.observedGeneration === metadata?.generation, 'its status is not of its last change')
  const counts = [status.replicas, status.updatedReplicas, status.availableReplicas].map((count) => count ?? 0)
  say(
    counts.every((count) => count === replicas),
    `the status says ${counts.join(', ')}, not ${replicas}`,
  )
  return problems
}

function isOwnedBy({ metadata }: ReplicaSet, uid: string | undefined): boolean {
  return metadata?.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false
}

function ownerOf({ metadata }: Pod): string | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid
}

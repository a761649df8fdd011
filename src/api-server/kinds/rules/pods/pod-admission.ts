import type { PodSpec, Toleration } from '../../../../model/generated/core-v1.ts'

const SECONDS = 300
const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** Lets a pod stay for a while on a node that is in trouble, unless it says itself what it wants then. */
export function withDefaultTolerations(spec: PodSpec): PodSpec {
  const present = spec.tolerations ?? []
  const added = TAINTS.filter((key) => !present.some((toleration) => speaksOf(toleration, key))).map((key) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: SECONDS,
  }))
  return added.length === 0 ? spec : { ...spec, tolerations: [...present, ...added] }
}

function speaksOf({ key, effect }: Toleration, taint: string): boolean {
  return (!key || key === taint) && (!effect || effect === 'NoExecute')
}

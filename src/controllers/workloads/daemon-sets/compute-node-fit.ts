import type { DaemonSet } from '../../../model/generated/api-groups.ts'
import type { Node, PodSpec, PodTemplateSpec, Toleration } from '../../../model/generated/core-v1.ts'
import { matchesNodeSelector } from '../../../model/pod/matching/matches-node-selector.ts'
import { toleratesTaint } from '../../../model/pod/matching/tolerates-taint.ts'
import type { Live, LiveMeta } from '../../engine/live-object.ts'

const TROUBLE = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const PRESSURE = [
  'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/pid-pressure',
  'node.kubernetes.io/unschedulable',
]
const NO_NETWORK = 'node.kubernetes.io/network-unavailable'

/** Whether a node gets a pod, and whether one that it has may stay. */
export interface NodeFit {
  readonly shouldRun: boolean
  readonly mayStay: boolean
}

const NEITHER: NodeFit = { shouldRun: false, mayStay: false }

export function computeNodeFit({ spec }: Live<DaemonSet>, node: Node & { readonly metadata: LiveMeta }): NodeFit {
  const { name, labels = {} } = node.metadata
  const pod: PodSpec = spec.template.spec ?? { containers: [] }
  if (pod.nodeName && pod.nodeName !== name) return NEITHER
  const required = pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const isSelected = Object.entries(pod.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)
  if (!isSelected || (required !== undefined && !matchesNodeSelector(required, { name, labels }))) return NEITHER
  const tolerations = [...(pod.tolerations ?? []), ...computeDaemonTolerations(pod)]
  const untolerated = (node.spec?.taints ?? []).filter(
    (taint) => !toleratesTaint(tolerations, taint, { comparisons: false }),
  )
  return {
    shouldRun: !untolerated.some(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute'),
    mayStay: !untolerated.some(({ effect }) => effect === 'NoExecute'),
  }
}

/** A daemon runs also where others would leave or not come. */
function computeDaemonTolerations({ hostNetwork }: PodSpec): readonly Toleration[] {
  const exists = (key: string, effect: string): Toleration => ({ key, operator: 'Exists', effect })
  return [
    ...TROUBLE.map((key) => exists(key, 'NoExecute')),
    ...PRESSURE.map((key) => exists(key, 'NoSchedule')),
    ...(hostNetwork === true ? [exists(NO_NETWORK, 'NoSchedule')] : []),
  ]
}

/** The template for one node: bound to it by affinity, so that the scheduler decides nothing. */
export function computeDaemonTemplate(
  template: PodTemplateSpec,
  nodeName: string,
  labels: Readonly<Record<string, string>>,
): PodTemplateSpec {
  const spec: PodSpec = template.spec ?? { containers: [] }
  const present = spec.tolerations ?? []
  const added = computeDaemonTolerations(spec).filter(
    (each) =>
      !present.some(
        ({ key, effect, operator }) => key === each.key && effect === each.effect && operator === each.operator,
      ),
  )
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }
  return {
    ...template,
    metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...labels } },
    spec: {
      ...spec,
      tolerations: [...present, ...added],
      affinity: {
        ...spec.affinity,
        nodeAffinity: {
          ...spec.affinity?.nodeAffinity,
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
        },
      },
    },
  }
}

import { isLabelValue, isQualifiedName } from '../values/label-syntax.ts'

const ALLOWED = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
])
const OPEN_NAMESPACES = ['kubelet.kubernetes.io', 'node.kubernetes.io']

function isWithin(namespace: string, parents: readonly string[]): boolean {
  return parents.some((parent) => namespace === parent || namespace.endsWith(`.${parent}`))
}

/** A label that a node may give itself: the API server refuses others in Kubernetes' own namespaces. */
export function findNodeLabelProblem(key: string, value: string): string | undefined {
  if (!isQualifiedName(key)) return 'expected a label key such as "zone" or "example.com/zone"'
  if (!isLabelValue(value)) return 'expected a label value: at most 63 letters, digits, "-", "_" and "."'
  const namespace = key.includes('/') ? key.slice(0, key.indexOf('/')) : ''
  if (!isWithin(namespace, ['kubernetes.io', 'k8s.io'])) return undefined
  if (ALLOWED.has(key) || isWithin(namespace, OPEN_NAMESPACES)) return undefined
  return `expected a label outside kubernetes.io and k8s.io, in ${OPEN_NAMESPACES.join(' or ')}, or one of ${[...ALLOWED].join(', ')}`
}

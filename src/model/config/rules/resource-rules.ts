import { parseQuantity } from '../../resources/quantity.ts'
import { attempt } from '../kinds/scalar-kinds.ts'
import { parseGoBool } from '../values/go-scalars.ts'

const RESERVABLE = ['cpu', 'memory', 'ephemeral-storage', 'pid']

/** One resource kept back from pods. */
export function findReservationProblem(resource: string, value: string): string | undefined {
  if (!RESERVABLE.includes(resource)) return `expected one of ${RESERVABLE.join(', ')}`
  const amount = attempt(() => parseQuantity(value))
  return amount !== undefined && amount.nanos >= 0n ? undefined : 'expected a quantity of 0 or more'
}

/** One kind of memory kept back on one NUMA node. */
export function findMemoryLimitProblem(resource: string, value: string): string | undefined {
  if (resource !== 'memory' && !/^hugepages-.+$/.test(resource)) return 'expected memory or hugepages-<size>'
  const amount = attempt(() => parseQuantity(value))
  return amount !== undefined && amount.nanos > 0n ? undefined : 'expected a quantity above 0'
}

/** The share of a resource kept for pods of a higher QoS class. */
export function findQosReservationProblem(resource: string, value: string): string | undefined {
  if (resource !== 'memory') return 'expected memory'
  const percent = /^\d{1,3}%$/.test(value) ? Number(value.slice(0, -1)) : 101
  return percent <= 100 ? undefined : 'expected 0% to 100%'
}

/** The options of the static CPU policy, and the gate that an option not yet stable needs. */
export const CPU_POLICY_OPTIONS: Readonly<
  Record<string, 'CPUManagerPolicyAlphaOptions' | 'CPUManagerPolicyBetaOptions' | undefined>
> = {
  'full-pcpus-only': undefined,
  'strict-cpu-reservation': undefined,
  'prefer-align-cpus-by-uncorecache': undefined,
  'distribute-cpus-across-numa': 'CPUManagerPolicyBetaOptions',
  'align-by-socket': 'CPUManagerPolicyAlphaOptions',
  'distribute-cpus-across-cores': 'CPUManagerPolicyAlphaOptions',
}

/** One option of the static CPU policy; all are switches. */
export function findCpuPolicyOptionProblem(name: string, value: string): string | undefined {
  if (!Object.hasOwn(CPU_POLICY_OPTIONS, name)) return `expected one of ${Object.keys(CPU_POLICY_OPTIONS).join(', ')}`
  return attempt(() => parseGoBool(value)) === undefined ? 'expected true or false' : undefined
}

/** One option of the topology policies. */
export function findTopologyOptionProblem(name: string, value: string): string | undefined {
  if (name === 'prefer-closest-numa-nodes') {
    return attempt(() => parseGoBool(value)) === undefined ? 'expected true or false' : undefined
  }
  if (name === 'max-allowable-numa-nodes')
    return /^\d{1,9}$/.test(value) && Number(value) >= 8 ? undefined : 'expected a whole number of at least 8'
  return 'expected prefer-closest-numa-nodes or max-allowable-numa-nodes'
}

const SYSCTL = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?)*$/
const SYSCTL_PREFIXES = ['kernel.shm', 'kernel.msg', 'fs.mqueue.', 'net.']

/** The name of a sysctl, or the beginning of one and a star; only those that belong to a pod's namespaces. */
export function findSysctlProblem(pattern: string): string | undefined {
  const dotted = pattern.replaceAll('/', '.')
  const name = dotted.replace(/\.?\*$/, '')
  if (pattern.length > 253 || !SYSCTL.test(name)) return 'expected the name of a sysctl, or a prefix and *'
  const stem = dotted.replace(/\*$/, '')
  if (stem === 'kernel.sem' || SYSCTL_PREFIXES.some((prefix) => stem.startsWith(prefix))) return undefined
  return 'expected kernel.sem, or a name that begins with kernel.shm, kernel.msg, fs.mqueue. or net.'
}

import { parseQuantity } from '../../resources/quantity.ts'
import type { ConfigProblem } from '../config-error.ts'
import { attempt } from '../kinds/scalar-kinds.ts'
import { parseGoBool } from '../values/go-scalars.ts'
import type { RuleContext } from './configuration-rules.ts'

/** Options that want opposite things. */
const CONFLICTS: readonly (readonly [string, string])[] = [
  ['full-pcpus-only', 'distribute-cpus-across-cores'],
  ['distribute-cpus-across-numa', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-cores'],
  ['prefer-align-cpus-by-uncorecache', 'distribute-cpus-across-numa'],
]

/** What is wrong with who gets which CPUs and which memory. */
export function findPlacementProblems({ config }: RuleContext): readonly ConfigProblem[] {
  return [findCpuProblems, findConflicts, findSocketConflict, findMemoryProblems].flatMap((find) => find(config))
}

function findCpuProblems(config: RuleContext['config']): readonly ConfigProblem[] {
  const { cpuManagerPolicy, cpuManagerPolicyOptions: options } = config
  if (cpuManagerPolicy === 'none' && Object.keys(options).length > 0) {
    const rule = 'expected none, because cpuManagerPolicy is none'
    return [{ path: 'cpuManagerPolicyOptions', value: options, rule }]
  }
  if (cpuManagerPolicy === 'none' || config.reservedSystemCPUs !== '' || reservesCpu(config)) return []
  const rule = 'expected CPUs to be reserved, by cpu in systemReserved or kubeReserved, or by reservedSystemCPUs'
  return [{ path: 'cpuManagerPolicy', value: cpuManagerPolicy, rule }]
}

function reservesCpu({ systemReserved, kubeReserved }: RuleContext['config']): boolean {
  return [systemReserved, kubeReserved].some(({ cpu = '0' }) => (attempt(() => parseQuantity(cpu))?.nanos ?? 0n) > 0n)
}

function findConflicts({ cpuManagerPolicyOptions: options }: RuleContext['config']): readonly ConfigProblem[] {
  const isOn = (name: string) => attempt(() => parseGoBool(options[name] ?? 'false')) === true
  return CONFLICTS.filter((pair) => pair.every(isOn)).map(([name, other]) => ({
    path: `cpuManagerPolicyOptions[${name}]`,
    value: options[name],
    rule: `expected false, because ${other} is on`,
  }))
}

/** What has to come from one NUMA node cannot come from all of a socket. */
function findSocketConflict(config: RuleContext['config']): readonly ConfigProblem[] {
  const { topologyManagerPolicy, cpuManagerPolicyOptions: options } = config
  const value = options['align-by-socket'] ?? 'false'
  if (topologyManagerPolicy !== 'single-numa-node' || attempt(() => parseGoBool(value)) !== true) return []
  const rule = 'expected false, because topologyManagerPolicy is single-numa-node'
  return [{ path: 'cpuManagerPolicyOptions[align-by-socket]', value, rule }]
}

/** How much it has to be is known when the machine is. */
function findMemoryProblems({ memoryManagerPolicy, reservedMemory }: RuleContext['config']): readonly ConfigProblem[] {
  if (memoryManagerPolicy === 'None' || reservedMemory.some(({ limits }) => Object.hasOwn(limits, 'memory'))) return []
  const rule = 'expected memory of NUMA nodes to be reserved by reservedMemory'
  return [{ path: 'memoryManagerPolicy', value: memoryManagerPolicy, rule }]
}

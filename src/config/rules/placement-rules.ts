import { parseQuantity } from '../../model/quantity.ts'
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

/** What is wrong with who gets which CPUs and which memory, or not there yet. */
export function findPlacementProblems({ config }: RuleContext): readonly ConfigProblem[] {
  return [...findCpuProblems(config), ...findConflicts(config), ...findMissingPolicies(config)]
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

/** A pod that relies on them would run without what it was promised. */
function findMissingPolicies({
  memoryManagerPolicy,
  topologyManagerPolicy,
}: RuleContext['config']): readonly ConfigProblem[] {
  const memory = {
    path: 'memoryManagerPolicy',
    value: memoryManagerPolicy,
    rule: 'expected None, others are not supported yet',
  }
  const topology = {
    path: 'topologyManagerPolicy',
    value: topologyManagerPolicy,
    rule: 'expected none, others are not supported yet',
  }
  return [...(memoryManagerPolicy === 'None' ? [] : [memory]), ...(topologyManagerPolicy === 'none' ? [] : [topology])]
}

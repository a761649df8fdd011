import { ConfigError, type ConfigProblem } from '../config-error.ts'
import { FLAG_FIELDS } from '../flags/kubelet-flags.ts'
import { isJsonObject, toPlain, type Json } from '../files/json-value.ts'
import type { Findings } from '../kinds/field.ts'
import { attempt } from '../kinds/scalar-kinds.ts'
import { CONFIGURATION, encodeConfiguration } from '../kubelet-configuration.ts'
import { parseCpuSet } from '../../resources/cpu-set.ts'
import { CONFIGURATION_RULES, type RuleContext } from './configuration-rules.ts'
import { findPlacementProblems } from './placement-rules.ts'
import { CPU_POLICY_OPTIONS } from './resource-rules.ts'

function findUnpairedThresholds({ config }: RuleContext): readonly ConfigProblem[] {
  const missing = Object.keys(config.evictionSoft).filter(
    (signal) => !Object.hasOwn(config.evictionSoftGracePeriod, signal),
  )
  const rule = 'expected a grace period, because evictionSoft has the signal'
  return missing.map((signal) => ({ path: `evictionSoftGracePeriod[${signal}]`, value: undefined, rule }))
}

function findRepeatedReservations({ config }: RuleContext): readonly ConfigProblem[] {
  const seen = new Set<string>()
  return config.reservedMemory.flatMap(({ numaNode, limits }, index) =>
    Object.entries(limits).flatMap(([resource, value]) => {
      const key = `${numaNode} ${resource}`
      const path = `reservedMemory[${index}].limits[${resource}]`
      if (seen.has(key)) return [{ path, value, rule: `expected ${resource} of NUMA node ${numaNode} once` }]
      seen.add(key)
      return []
    }),
  )
}

function findUnavailableCpus({ config, machine }: RuleContext): readonly ConfigProblem[] {
  const path = 'reservedSystemCPUs'
  const value = config.reservedSystemCPUs
  const cpus = attempt(() => parseCpuSet(value))
  if (cpus === undefined) return [{ path, value, rule: 'expected a list of CPUs such as "0-3,8"' }]
  if (cpus.every((cpu) => machine.onlineCpus.includes(cpu))) return []
  return [{ path, value, rule: `expected CPUs of this machine: ${machine.onlineCpus.join(',')}` }]
}

function findClosedCpuOptions({ config, gates }: RuleContext): readonly ConfigProblem[] {
  return Object.entries(config.cpuManagerPolicyOptions).flatMap(([name, value]) => {
    const gate = CPU_POLICY_OPTIONS[name]
    if (gate === undefined || gates.enabled(gate)) return []
    return [{ path: `cpuManagerPolicyOptions[${name}]`, value, rule: `expected feature gate ${gate} to be on` }]
  })
}

/** The value at a path, as the file would have it; undefined when it is not written. */
function shownValue(document: Json, path: string): unknown {
  const value = path
    .split('.')
    .reduce<Json | undefined>((part, name) => (isJsonObject(part) ? part.get(name) : undefined), document)
  return value === undefined ? undefined : toPlain(value)
}

function findBrokenRules(context: RuleContext): readonly ConfigProblem[] {
  const document = encodeConfiguration(context.config)
  return CONFIGURATION_RULES.filter((row) => row.broken(context)).map(({ path, rule }) => ({
    path,
    value: shownValue(document, path),
    rule,
  }))
}

/** Checks every rule of every field and flag; throws all problems with their places, together with those that were found before. */
export function checkConfiguration(
  context: RuleContext,
  found: { readonly problems: readonly ConfigProblem[]; readonly placed: readonly ConfigProblem[] },
  locate: (path: string) => string | undefined,
): void {
  const problems: ConfigProblem[] = []
  const findings: Findings = {
    problem: (path, value, rule) => problems.push({ path, value, rule }),
    unknownField: () => {},
  }
  for (const [name, field] of Object.entries(FLAG_FIELDS)) {
    const value = (context.flags as Readonly<Record<string, unknown>>)[name]
    if (value !== undefined) field.check(value as never, `--${field.flag?.name ?? name}`, findings)
  }
  CONFIGURATION.check(context.config, '', findings)
  problems.push(
    ...findBrokenRules(context),
    ...findUnpairedThresholds(context),
    ...findRepeatedReservations(context),
    ...findUnavailableCpus(context),
    ...findClosedCpuOptions(context),
    ...findPlacementProblems(context),
    ...found.problems,
  )
  const all = [...problems.map((problem) => ({ ...problem, where: locate(problem.path) })), ...found.placed]
  if (all.length > 0) throw new ConfigError(all)
}

import type { ConfigProblem } from '../config-error.ts'
import { suggestion } from '../values/suggestion.ts'
import { explainRemovedGate } from './removed-gates.ts'
import { GATES_WITHOUT_EFFECT } from './gates-without-effect.ts'
import { FEATURE_GATES, GATE_DEPENDENCIES, LOCKED_GATES, type FeatureGate } from './feature-gate-table.ts'

/** Which features are on; of gates without effect, what holds. */
export interface FeatureGates {
  enabled(gate: FeatureGate): boolean
}

/** The gates that result, with what is wrong and what deserves a word. */
export interface ResolvedFeatureGates {
  readonly gates: FeatureGates
  readonly problems: readonly ConfigProblem[]
  readonly warnings: readonly string[]
}

const NAMES = Object.keys(FEATURE_GATES) as readonly FeatureGate[]

function isGate(name: string): name is FeatureGate {
  return Object.hasOwn(FEATURE_GATES, name)
}

function defaultOf(gate: FeatureGate): boolean {
  return FEATURE_GATES[gate].endsWith('1')
}

function stageOf(gate: FeatureGate): string {
  return FEATURE_GATES[gate].slice(0, 1)
}

function findProblem(name: string, value: boolean): string | undefined {
  if (!isGate(name)) return explainRemovedGate(name) ?? `expected the name of a feature gate${suggestion(name, NAMES)}`
  if (LOCKED_GATES.has(name) && value !== defaultOf(name)) return `expected ${defaultOf(name)}: the gate is locked`
  return undefined
}

function findWarning(name: string, value: boolean): string | undefined {
  const stage = isGate(name) ? stageOf(name) : ''
  if (stage !== 'G' && stage !== 'D') return undefined
  const word = stage === 'G' ? 'generally available' : 'deprecated'
  return `Feature gate ${name}=${value} is ${word}: a later release will not know it any more`
}

/** Gates that were set, by name or with all of their stage, to something else than what holds. */
function findWithoutEffect(explicit: ReadonlyMap<string, boolean>): readonly string[] {
  const set = resolveValues(explicit)
  return NAMES.flatMap((gate) => {
    const fixed = GATES_WITHOUT_EFFECT[gate]
    const isSet = explicit.has(gate) || groupOf(gate, explicit) !== undefined
    if (fixed === undefined || !isSet || set.get(gate) === fixed.isOn) return []
    return [`Feature gate ${gate}=${String(set.get(gate))} has no effect: ${fixed.why}`]
  })
}

/** What all gates of the same stage were set to. */
function groupOf(gate: FeatureGate, explicit: ReadonlyMap<string, boolean>): boolean | undefined {
  const stage = stageOf(gate)
  return stage === 'A' ? explicit.get('AllAlpha') : stage === 'B' ? explicit.get('AllBeta') : undefined
}

/** All gates after defaults, AllAlpha and AllBeta, and the explicit ones, in this order. */
function resolveValues(explicit: ReadonlyMap<string, boolean>): ReadonlyMap<FeatureGate, boolean> {
  return new Map(NAMES.map((gate) => [gate, explicit.get(gate) ?? groupOf(gate, explicit) ?? defaultOf(gate)]))
}

function findMissing(values: ReadonlyMap<FeatureGate, boolean>): readonly ConfigProblem[] {
  return NAMES.filter((gate) => values.get(gate)).flatMap((gate) => {
    const missing = (GATE_DEPENDENCIES[gate] ?? []).filter((needed) => !values.get(needed))
    const rule = `expected ${missing.join(' and ')} to be on too, or this one to be off`
    return missing.length === 0 ? [] : [{ path: `featureGates[${gate}]`, value: true, rule }]
  })
}

/** Works out every gate from those that were set. */
export function resolveFeatureGates(overrides: Readonly<Record<string, boolean>>): ResolvedFeatureGates {
  const explicit = new Map(Object.entries(overrides))
  const wrong = [...explicit].flatMap(([name, value]) => {
    const rule = findProblem(name, value)
    return rule === undefined ? [] : [{ path: `featureGates[${name}]`, value, rule }]
  })
  const values = resolveValues(explicit)
  return {
    gates: { enabled: (gate) => GATES_WITHOUT_EFFECT[gate]?.isOn ?? values.get(gate) ?? false },
    problems: [...wrong, ...findMissing(values)],
    warnings: [
      ...[...explicit].map(([name, value]) => findWarning(name, value)).filter((text) => text !== undefined),
      ...findWithoutEffect(explicit),
    ],
  }
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FEATURE_GATES, GATE_DEPENDENCIES, LOCKED_GATES, type FeatureGate } from './feature-gate-table.ts'
import { GATES_WITHOUT_EFFECT } from './gates-without-effect.ts'
import { resolveFeatureGates } from './feature-gates.ts'
import { explainRemovedGate } from './removed-gates.ts'

const NAMES = Object.keys(FEATURE_GATES) as readonly FeatureGate[]
const OBEYED = NAMES.filter((name) => GATES_WITHOUT_EFFECT[name] === undefined)

function problems(overrides: Readonly<Record<string, boolean>>): readonly string[] {
  return resolveFeatureGates(overrides).problems.map(({ path, rule }) => `${path}: ${rule}`)
}

describe('resolveFeatureGates()', () => {
  test('knows 242 gates, each with its default', () => {
    assert.equal(NAMES.length, 242)
    const { gates, problems, warnings } = resolveFeatureGates({})
    assert.deepEqual([problems, warnings], [[], []])
    for (const name of OBEYED) assert.equal(gates.enabled(name), FEATURE_GATES[name].endsWith('1'), name)
    assert.deepEqual(
      (['NodeSwap', 'PodsAPI', 'SELinuxMount', 'DisableNodeKubeProxyVersion', 'GitRepoVolumeDriver'] as const).map(
        (name) => gates.enabled(name),
      ),
      [true, false, false, true, false],
    )
  })

  test('takes what was set', () => {
    const { gates } = resolveFeatureGates({ PodsAPI: true, EnvFiles: false })
    assert.deepEqual([gates.enabled('PodsAPI'), gates.enabled('EnvFiles')], [true, false])
  })

  test('refuses unknown gates, "__proto__" too', () => {
    assert.deepEqual(problems({ EnvFile: true, qwertzuiop: true }), [
      'featureGates[EnvFile]: expected the name of a feature gate, did you mean EnvFiles?',
      'featureGates[qwertzuiop]: expected the name of a feature gate',
    ])
    assert.equal(problems(Object.fromEntries([['__proto__', true]])).length, 1)
    assert.equal(problems({ toString: true }).length, 1)
  })

  test('says what became of gates of earlier releases', () => {
    assert.deepEqual(problems({ DynamicKubeletConfig: true, CPUManager: true }), [
      'featureGates[DynamicKubeletConfig]: leave it out: the gate was removed in Kubernetes 1.26, and its feature with it; use --config and --config-dir',
      'featureGates[CPUManager]: leave it out: the gate was removed in Kubernetes 1.33, its feature is always on',
    ])
    for (const name of NAMES) assert.equal(explainRemovedGate(name), undefined, name)
  })

  test('refuses to change a locked gate, but takes its own value', () => {
    for (const gate of LOCKED_GATES) {
      const value = FEATURE_GATES[gate].endsWith('1')
      assert.ok(
        problems({ [gate]: !value }).includes(`featureGates[${gate}]: expected ${value}: the gate is locked`),
        gate,
      )
      assert.deepEqual(problems({ [gate]: value }), [], gate)
    }
  })

  test('refuses a gate that is on without those it depends on', () => {
    for (const [gate, needed] of Object.entries(GATE_DEPENDENCIES)) {
      for (const other of needed.filter((name) => !LOCKED_GATES.has(name))) {
        const found = problems({ AllAlpha: true, AllBeta: true, [gate]: true, [other]: false })
        assert.ok(
          found.some(
            (problem) => problem.startsWith(`featureGates[${gate}]: expected ${other}`) || problem.includes(other),
          ),
          gate,
        )
        assert.ok(
          !problems({ [gate]: false, [other]: false }).some((problem) => problem.startsWith(`featureGates[${gate}]`)),
          gate,
        )
      }
    }
  })

  test('lets AllAlpha and AllBeta set the gates that were not set', () => {
    const { gates, problems } = resolveFeatureGates({ AllAlpha: true, AllBeta: true, PodsAPI: false })
    assert.deepEqual(problems, [])
    for (const name of OBEYED) {
      const expected =
        name === 'PodsAPI' ? false : /^[AB]/.test(FEATURE_GATES[name]) || FEATURE_GATES[name].endsWith('1')
      assert.equal(gates.enabled(name), expected, name)
    }
    const off = resolveFeatureGates({ AllBeta: false, EnvFiles: true }).gates
    assert.deepEqual(
      [off.enabled('EnvFiles'), off.enabled('ComponentFlagz'), off.enabled('NodeSwap')],
      [true, false, true],
    )
  })

  test('warns about gates that will go', () => {
    assert.deepEqual(resolveFeatureGates({ NodeSwap: true, AllowDNSOnlyNodeCSR: true, EnvFiles: true }).warnings, [
      'Feature gate NodeSwap=true is generally available: a later release will not know it any more',
      'Feature gate AllowDNSOnlyNodeCSR=true is deprecated: a later release will not know it any more',
    ])
  })

  test('says of each gate that was set without effect that it has none, and shows what holds', () => {
    for (const [name, { isOn, why }] of Object.entries(GATES_WITHOUT_EFFECT)) {
      const { gates, warnings } = resolveFeatureGates({ [name]: !isOn })
      assert.ok(warnings.includes(`Feature gate ${name}=${!isOn} has no effect: ${why}`), name)
      assert.equal(gates.enabled(name as FeatureGate), isOn, name)
      const held = resolveFeatureGates({ [name]: isOn }).warnings
      assert.ok(!held.some((text) => text.includes('no effect')), name)
    }
    const { warnings } = resolveFeatureGates({ AllAlpha: true })
    assert.ok(warnings.some((text) => text.startsWith('Feature gate NativeHistograms=true has no effect')))
    assert.ok(!warnings.some((text) => text.includes('EventedPLEG')), 'what holds anyway needs no word')
  })
})

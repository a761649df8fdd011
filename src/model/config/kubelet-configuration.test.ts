import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loadFields, nest, problemsOf, shown } from '../../../test/fakes/load-settings.ts'
import { FIELD_ROWS } from '../../../test/fixtures/config-field-rows.ts'
import { CONFIGURATION } from './kubelet-configuration.ts'

const WRONG: readonly (readonly [type: RegExp, values: readonly unknown[]])[] = [
  [/^bool/, ['true', 1, {}]],
  [/^int(32|64)\??$/, ['1', 1.5, true, 2 ** 60]],
  [/^int32\??$/, [2 ** 31]],
  [/^float/, ['0.5', true]],
  [/^(string|enum)/, [1, true, []]],
  [/^dur\??$/, [10, '10', 'x', '', true]],
  [/^map/, [[], 'a=b', { a: {} }]],
  [/^map<str,str>/, [{ a: 1 }]],
  [/\[\]$/, ['a', {}, [{}, 1]]],
  [/^obj\??$/, [[], 'a']],
]

function wrongValues(type: string, extra: readonly unknown[]): readonly unknown[] {
  return [...WRONG.filter(([pattern]) => pattern.test(type)).flatMap(([, values]) => values), ...extra]
}

const ZERO: readonly (readonly [type: RegExp, zero: unknown])[] = [
  [/^(int32|int64|float64)\??$/, 0],
  [/^dur\??$/, '0s'],
  [/^(string|enum)\??$/, ''],
]

const defaults = await loadFields({})

describe('KubeletConfiguration', () => {
  test('has its 125 fields, and a row here for each', () => {
    const rows = new Set(FIELD_ROWS.map(([path]) => path.split('.')[0] ?? ''))
    assert.deepEqual([...rows].toSorted(), Object.keys(CONFIGURATION.fields ?? {}).toSorted())
    assert.equal(rows.size, 125)
  })

  for (const [path, type, unset, sample, injections = {}] of FIELD_ROWS) {
    test(`${path}: default, value, type and rule`, async () => {
      const expected = path === 'evictionHard' ? shown(defaults, 'evictionHard') : unset
      assert.deepEqual(shown(defaults, path), expected, 'default')

      const set = await loadFields({ ...injections.with, ...nest(path, sample) })
      assert.deepEqual(shown(set, path), sample, 'value from the file')

      for (const value of wrongValues(type, injections.wrong ?? [])) {
        const problems = await problemsOf(loadFields(nest(path, value)))
        const top = problems.every((problem) => problem.startsWith(path))
        assert.ok(problems.length > 0 && top, `${JSON.stringify(value)} is of a wrong type: ${problems.join()}`)
        assert.match(problems.join(), /line 1\)/, 'the line is named')
      }
      const bad = (injections.bad ?? []).map((value) => [value, injections.with ?? {}] as const)
      for (const [value, others] of [...bad, ...(injections.badWith ?? [])]) {
        const problems = await problemsOf(loadFields({ ...others, ...nest(path, value) }))
        assert.ok(problems.length > 0, `${JSON.stringify(value)} with ${JSON.stringify(others)} breaks the rule`)
      }
    })
  }

  for (const [path, type, unset, , injections = {}] of FIELD_ROWS) {
    const zero = ZERO.find(([pattern]) => pattern.test(type))?.[1]
    if (zero === undefined || (injections.bad ?? []).includes(zero)) continue
    test(`${path}: zero is ${type.endsWith('?') ? 'a value' : 'the default'}`, async () => {
      assert.deepEqual(shown(await loadFields(nest(path, zero)), path), type.endsWith('?') ? zero : unset)
    })
  }

  test('takes null as unset', async () => {
    const fields = Object.fromEntries(FIELD_ROWS.map(([path]) => [path.split('.')[0] ?? '', null]))
    assert.deepEqual((await loadFields(fields)).config, defaults.config)
  })

  test('holds durations in milliseconds', () => {
    const { syncFrequency, cpuCFSQuotaPeriod, logging } = defaults.config
    assert.deepEqual([syncFrequency, cpuCFSQuotaPeriod, logging.flushFrequency], [60_000, 100, 5000])
  })

  test('takes a whole number of nanoseconds for logging.flushFrequency', async () => {
    const settings = await loadFields({ logging: { flushFrequency: 2_000_000_000 } })
    assert.equal(settings.config.logging.flushFrequency, 2000)
  })

  test('is frozen to its leaves', () => {
    assert.ok(Object.isFrozen(defaults.config) && Object.isFrozen(defaults.config.authentication.x509))
    assert.ok(Object.isFrozen(defaults.config.enforceNodeAllocatable) && Object.isFrozen(defaults.warnings))
  })

  test('takes any negative podPidsLimit as -1', async () => {
    assert.equal((await loadFields({ podPidsLimit: -7 })).config.podPidsLimit, -1)
  })

  test('refuses an int64 that cannot be held exactly', async () => {
    const problems = await problemsOf(loadFields({ maxOpenFiles: Number.MAX_SAFE_INTEGER + 1 }))
    assert.match(problems.join(), /^maxOpenFiles: expected a whole number from/)
  })

  test('reports all that is wrong at once', async () => {
    const problems = await problemsOf(
      loadFields({ port: -1, maxPods: -1, syncFrequency: '-1s', featureGates: { X: true } }),
    )
    assert.deepEqual(problems.map((problem) => problem.split(':')[0] ?? '').toSorted(), [
      'featureGates[X]',
      'maxPods',
      'port',
      'syncFrequency',
    ])
  })

  test('never shows the values of staticPodURLHeader', async () => {
    const error = await loadFields({ staticPodURLHeader: { Authorization: 'secret' } }).catch(
      (thrown: unknown) => thrown,
    )
    assert.match(String(error), /staticPodURLHeader\[Authorization\]: "\*\*\*"/)
    assert.doesNotMatch(String(error), /secret/)
  })
})

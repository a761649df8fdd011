import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { parseExposition } from '../../../../test/fixtures/parse-exposition.ts'
import { formatLabels } from './stats-family.ts'
import type { StatsFamily } from './stats-family.ts'
import { renderMetrics } from './render-metrics.ts'

const time = Date.UTC(2026, 0, 1, 0, 0, 0, 250)
const families: readonly StatsFamily[] = [
  { name: 'a_total', help: 'Of a', type: 'counter', samples: [{ labels: 'x="1"', value: 1.5, time }] },
  { name: 'b_count', help: 'back\\slash\nand "quotes"', type: 'counter', samples: [{ labels: '', value: 2 }] },
  { name: 'c', help: 'Of c', type: 'gauge', samples: [] },
  { name: 'd', help: 'Of d', type: 'gauge', samples: [{ labels: '', value: 9_223_372_036_854_771_712 }] },
]

describe('renderMetrics()', () => {
  test('writes text with times in milliseconds, and nothing of what has no value', async () => {
    assert.equal(
      await renderMetrics(families, 'text'),
      `# HELP a_total Of a
# TYPE a_total counter
a_total{x="1"} 1.5 1767225600250
# HELP b_count back\\\\slash\\nand "quotes"
# TYPE b_count counter
b_count 2
# HELP d Of d
# TYPE d gauge
d 9223372036854772000
`,
    )
  })

  test('writes OpenMetrics with times in seconds and its own names of counters', async () => {
    assert.equal(
      await renderMetrics(families, 'openMetrics'),
      `# HELP a Of a
# TYPE a counter
a_total{x="1"} 1.5 1767225600.250
# HELP b_count back\\\\slash\\nand \\"quotes\\"
# TYPE b_count unknown
b_count 2
# HELP d Of d
# TYPE d gauge
d 9223372036854772000
# EOF
`,
    )
  })

  test('writes values of labels that can be read again, whatever is in them', async () => {
    const letters = fc.constantFrom('"', '\\', '\n', '\r', '{', '}', ',', ' ', '=', 'n', 'é', '\u2028', '😀')
    const labels = fc.dictionary(fc.constantFrom('a', 'b_c', '_d', 'e1'), fc.string({ unit: letters }))
    await fc.assert(
      fc.asyncProperty(labels, fc.double({ noNaN: true }), async (given, value) => {
        const samples = [{ labels: formatLabels(given), value }]
        const text = await renderMetrics([{ name: 'm', help: 'h', type: 'gauge', samples }], 'text')
        const [sample] = parseExposition(text)[0]?.samples ?? []
        assert.deepEqual({ ...sample?.labels }, { ...given })
        assert.equal(sample?.value === value, true)
      }),
    )
  })
})

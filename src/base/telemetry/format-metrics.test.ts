import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parsePrometheus } from '../../../test/fixtures/parse-prometheus.ts'
import { formatMetrics } from './format-metrics.ts'
import type { MetricFamily } from './format-metrics.ts'

const families: readonly MetricFamily[] = [
  {
    name: 'calls_total',
    help: 'Calls "a" \\ b\nc.',
    type: 'counter',
    samples: [{ name: 'calls_total', labels: { z: 'x"\\\n', a: '1' }, value: 2 }],
  },
  { name: 'evictions', help: 'E.', type: 'counter', samples: [{ name: 'evictions', labels: {}, value: 0 }] },
  { name: 'empty', help: 'None.', type: 'gauge', samples: [] },
  { name: 'left', help: 'L.', type: 'gauge', samples: [{ name: 'left', labels: {}, value: -Infinity }] },
  {
    name: 'wait',
    help: 'W.',
    type: 'histogram',
    samples: [
      { name: 'wait_bucket', labels: { le: 1 }, value: 0 },
      { name: 'wait_bucket', labels: { le: '+Inf' }, value: 1 },
      { name: 'wait_sum', labels: {}, value: 1.5 },
      { name: 'wait_count', labels: {}, value: 1 },
    ],
  },
]

test('formatMetrics() writes the text of Prometheus', () => {
  assert.deepEqual(formatMetrics(families, 'text'), {
    type: 'text/plain; version=0.0.4; charset=utf-8',
    body: `# HELP calls_total Calls "a" \\\\ b\\nc.
# TYPE calls_total counter
calls_total{a="1",z="x\\"\\\\\\n"} 2
# HELP evictions E.
# TYPE evictions counter
evictions 0
# HELP left L.
# TYPE left gauge
left -Inf
# HELP wait W.
# TYPE wait histogram
wait_bucket{le="1"} 0
wait_bucket{le="+Inf"} 1
wait_sum 1.5
wait_count 1
`,
  })
})

test('formatMetrics() writes the text of OpenMetrics', () => {
  assert.deepEqual(formatMetrics(families, 'openMetrics'), {
    type: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    body: `# HELP calls Calls \\"a\\" \\\\ b\\nc.
# TYPE calls counter
calls_total{a="1",z="x\\"\\\\\\n"} 2
# HELP evictions E.
# TYPE evictions counter
evictions_total 0
# HELP left L.
# TYPE left gauge
left -Inf
# HELP wait W.
# TYPE wait histogram
wait_bucket{le="1.0"} 0
wait_bucket{le="+Inf"} 1
wait_sum 1.5
wait_count 1
# EOF
`,
  })
})

test('formatMetrics() writes what a strict reader reads back', () => {
  const value = fc.oneof(fc.double({ noNaN: true }), fc.integer())
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.string()), value, (labels, number) => {
      const sample = { name: 'm', labels, value: Object.is(number, -0) ? 0 : number }
      const { body } = formatMetrics([{ name: 'm', help: 'M', type: 'gauge', samples: [sample] }], 'text')
      const [read] = parsePrometheus(body)
      assert.deepEqual(read?.samples, [{ ...sample, labels: { ...labels } }])
    }),
  )
})

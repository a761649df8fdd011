import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chooseMetricsFormat } from './choose-metrics-format.ts'

describe('chooseMetricsFormat()', () => {
  const prometheus =
    'application/openmetrics-text;version=1.0.0;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'
  for (const [accept, format, version] of [
    [undefined, 'text', '0.0.4'],
    ['*/*', 'text', '0.0.4'],
    ['text/plain', 'text', '0.0.4'],
    [prometheus, 'openMetrics', '1.0.0'],
    ['application/openmetrics-text', 'openMetrics', '0.0.1'],
    ['application/openmetrics-text; version=2.0.0, text/plain; q=0.1', 'text', '0.0.4'],
    ['application/openmetrics-text; q=0', 'text', '0.0.4'],
    ['application/openmetrics-text; q=0.2, text/plain', 'text', '0.0.4'],
    ['application/vnd.google.protobuf;q=0.9,application/openmetrics-text;version=1.0.0;q=0.6', 'openMetrics', '1.0.0'],
  ] as const)
    test(`takes ${format} for ${accept}`, () => {
      const chosen = chooseMetricsFormat(accept)
      assert.deepEqual([chosen.format, /version=([\d.]+)/.exec(chosen.contentType)?.[1]], [format, version])
    })
})

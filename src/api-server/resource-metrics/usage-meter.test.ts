import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseSamples } from './parse-samples.ts'
import { UsageMeter } from './usage-meter.ts'

function reading(seconds: number, time: number): string {
  return `# HELP node_cpu_usage_seconds_total CPU
# TYPE node_cpu_usage_seconds_total counter
node_cpu_usage_seconds_total ${seconds * 10} ${time}
node_memory_working_set_bytes 4096 ${time}
container_cpu_usage_seconds_total{container="c",namespace="n",pod="p"} ${seconds} ${time}
container_memory_working_set_bytes{container="c",namespace="n",pod="p"} 1.024e+03 ${time}
pod_memory_working_set_bytes{namespace="n",pod="p"} 1024 ${time}
scrape_error 0
`
}

describe('parseSamples()', () => {
  test('reads names, labels with their escapes, values and times, and passes over the rest', () => {
    const text = 'a{b="1",c="x\\"y\\\\z\\n"} 2.5 7\n# a comment\nnothing\nb 1e3\nc NaN\n'
    assert.deepEqual(parseSamples(text), [
      { name: 'a', labels: { b: '1', c: 'x"y\\z\n' }, value: 2.5, time: 7 },
      { name: 'b', labels: {}, value: 1000, time: undefined },
    ])
  })
})

describe('UsageMeter', () => {
  test('knows nothing after one reading, and the usage between two', () => {
    const meter = new UsageMeter()
    meter.add(parseSamples(reading(1, 1000)), 0)
    assert.deepEqual([meter.node(), meter.pods()], [undefined, []])
    meter.add(parseSamples(reading(1.5, 3000)), 0)
    const usage = { cpuNanoCores: 250_000_000, memoryBytes: 1024, time: 3000, windowMs: 2000 }
    assert.deepEqual(meter.node(), { cpuNanoCores: 2_500_000_000, memoryBytes: 4096, time: 3000, windowMs: 2000 })
    assert.deepEqual(meter.pods(), [{ namespace: 'n', name: 'p', containers: new Map([['c', usage]]) }])
  })

  test('keeps the last usage while the kubelet has nothing newer', () => {
    const meter = new UsageMeter()
    for (const [seconds, time] of [
      [1, 1000],
      [2, 2000],
      [2, 2000],
    ] as const) {
      meter.add(parseSamples(reading(seconds, time)), 0)
    }
    assert.equal(meter.pods()[0]?.containers.get('c')?.cpuNanoCores, 1_000_000_000)
  })

  const forgotten: readonly (readonly [string, number, number])[] = [
    ['a container was started again', 0.5, 2000],
    ['the last reading was long ago', 2, 1_000_000],
  ]
  for (const [what, seconds, time] of forgotten) {
    test(`starts again when ${what}`, () => {
      const meter = new UsageMeter()
      meter.add(parseSamples(reading(1, 1000)), 0)
      meter.add(parseSamples(reading(seconds, time)), 0)
      assert.deepEqual(meter.pods(), [])
    })
  }

  test('forgets containers that are gone', () => {
    const meter = new UsageMeter()
    meter.add(parseSamples(reading(1, 1000)), 0)
    meter.add(parseSamples(reading(2, 2000)), 0)
    meter.add([], 3000)
    assert.deepEqual(meter.pods(), [])
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseRules } from './parse-rules.ts'
import { parseSimulation } from './parse-simulation.ts'
import type { SimulationTexts } from './parse-simulation.ts'

const parse = (texts: SimulationTexts) => parseSimulation(texts, (path) => `/here/${path}`)
const LEAST = { nodes: '3', kubeconfig: 'admin.conf' }

describe('parseSimulation()', () => {
  test('has a sensible value for all that is not given', () => {
    assert.deepEqual(parse(LEAST), {
      nodes: 3,
      kubeconfig: '/here/admin.conf',
      prefix: 'simulated-',
      capacity: { cpu: '4', memory: '16Gi', pods: '110', 'ephemeral-storage': '100Gi' },
      labels: {},
      taints: [],
      startTime: { leastMs: 0, mostMs: 0 },
      rules: undefined,
      atEnd: 'remove',
      reportMs: 10_000,
    })
  })

  test('takes capacity, labels, taints and times', () => {
    const { capacity, labels, taints, startTime, rules, atEnd, reportMs } = parse({
      ...LEAST,
      capacity: 'cpu=8,pods=20',
      labels: 'zone=a,tier=',
      taints: 'a=b:NoSchedule,c:NoExecute',
      'start-time': '500ms-3s',
      rules: 'rules.yaml',
      'at-end': 'mark',
      'report-every': '1m',
    })
    assert.deepEqual([capacity.cpu, capacity.memory, capacity.pods], ['8', '16Gi', '20'])
    assert.deepEqual(labels, { zone: 'a', tier: '' })
    assert.deepEqual(taints, ['a=b:NoSchedule', 'c:NoExecute'])
    assert.deepEqual(
      [startTime, rules, atEnd, reportMs],
      [{ leastMs: 500, mostMs: 3000 }, '/here/rules.yaml', 'mark', 60_000],
    )
  })

  for (const [texts, problem] of [
    [{ kubeconfig: 'a' }, /--nodes "": expected a number from 1 to 10000/],
    [{ ...LEAST, nodes: '0' }, /--nodes "0"/],
    [{ nodes: '1' }, /expected --kubeconfig/],
    [{ ...LEAST, prefix: 'A' }, /--prefix "A"/],
    [{ ...LEAST, capacity: 'gpu=1' }, /"gpu" is not known, expected cpu, memory/],
    [{ ...LEAST, capacity: 'memory=lots' }, /--capacity/],
    [{ ...LEAST, capacity: 'cpu=0' }, /cpu=0: expected 1 to 1024/],
    [{ ...LEAST, labels: 'zone' }, /--labels "zone": expected pairs/],
    [{ ...LEAST, 'start-time': '3s-1s' }, /--start-time: Cannot use "3s-1s" as a time/],
    [{ ...LEAST, 'at-end': 'leave' }, /--at-end "leave": expected remove, mark, keep/],
  ] as const) {
    test(`refuses ${JSON.stringify(texts)}`, () => {
      assert.throws(() => parse(texts), problem)
    })
  }
})

describe('parseRules()', () => {
  test('reads what containers do', () => {
    const text = `rules:
- match: {image: "*/db:*", share: 0.5, labels: {app: x}}
  startTime: 1s-2s
  exitCode: 3
  cpu: 250m
  memory: 1Mi
  ignoresTerm: true
`
    assert.deepEqual(parseRules(text), [
      {
        match: { image: '*/db:*', share: 0.5, labels: { app: 'x' } },
        behaviour: {
          startTime: { leastMs: 1000, mostMs: 2000 },
          exitCode: 3,
          cpuCores: 0.25,
          memoryBytes: 1_048_576,
          ignoresTerm: true,
        },
      },
    ])
  })

  for (const [text, problem] of [
    ['[]', /expected a list named "rules"/],
    ['rules: []\nnodes: 3', /"nodes" is not known/],
    ['rules: [1]', /rules\[0\]: expected an object/],
    ['rules: [{startTime: soon}]', /rules\[0\]\.startTime: Cannot use "soon" as a time/],
    ['rules: [{speed: 1}]', /rules\[0\]\.speed: it is not known, expected one of match, pullTime/],
    ['rules: [{match: {share: 2}}]', /rules\[0\]\.match\.share: 2 is no number from 0 to 1/],
    ['rules: [{exitCode: 256}]', /rules\[0\]\.exitCode: 256 is no number from 0 to 255/],
    ['rules: [{constructor: 1}]', /rules\[0\]\.constructor: it is not known/],
  ] as const) {
    test(`refuses ${text}`, () => {
      assert.throws(() => parseRules(text), problem)
    })
  }
})

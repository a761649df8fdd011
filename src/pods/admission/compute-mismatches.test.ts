import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import type { Node, PodSpec } from '../../model/generated/core-v1.ts'
import { CONFIG_SOURCE_ANNOTATION } from '../../model/pod/pod.ts'
import { computeMismatches } from './compute-mismatches.ts'

const taints = [
  { key: 'gone', effect: 'NoExecute' },
  { key: 'other', effect: 'NoSchedule' },
]
const node: Node = { metadata: { name: 'node-1', labels: { zone: 'a' } } }
const tainted: Node = { ...node, spec: { taints } }
const containers = [createContainer({ ports: [{ containerPort: 1, hostPort: 80 }] })]
const zoneIn = (...values: string[]) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values }] }],
    },
  },
})

const AFFINITY = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
const NAME = "Predicate NodeName failed: node(s) didn't match the requested node name"
const PORTS = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
const TAINTS = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"

describe('computeMismatches()', () => {
  const rows: readonly (readonly [string, Partial<PodSpec>, Node, readonly string[]])[] = [
    ['a plain pod', {}, node, []],
    ['a selector that fits', { nodeSelector: { zone: 'a' } }, node, []],
    ['a selector that does not', { nodeSelector: { zone: 'b' } }, node, [AFFINITY]],
    ['a selector on a node without labels', { nodeSelector: { zone: 'a' } }, {}, [AFFINITY]],
    ['a selector with a name that every object has', { nodeSelector: { toString: 'a' } }, node, [AFFINITY]],
    ['an affinity that fits', { affinity: zoneIn('b', 'a') }, node, []],
    ['an affinity that does not', { affinity: zoneIn('b') }, node, [AFFINITY]],
    ['both have to fit', { nodeSelector: { zone: 'a' }, affinity: zoneIn('b') }, node, [AFFINITY]],
    ['this node by name', { nodeName: 'node-1' }, node, []],
    ['another node by name', { nodeName: 'node-2' }, node, [NAME]],
    ['a port that is taken', { containers }, node, [PORTS]],
    ['a taint that drives away', {}, tainted, [TAINTS]],
    ['a taint that is tolerated', { tolerations: [{ key: 'gone', operator: 'Exists' }] }, tainted, []],
    [
      'all at once',
      { nodeSelector: { zone: 'b' }, nodeName: 'node-2', containers },
      tainted,
      [AFFINITY, NAME, PORTS, TAINTS],
    ],
  ]
  for (const [name, spec, place, expected] of rows) {
    test(name, () => {
      const otherPods = [createPod({ metadata: { uid: 'u-2' }, spec: { containers } })]
      const found = computeMismatches(createPod({ spec }), {
        node: place,
        otherPods,
        endingPods: [],
        taintComparisons: false,
      })
      assert.deepEqual(
        found.map(({ message }) => message),
        expected,
      )
      assert.deepEqual(
        found.map(({ reason }) => reason),
        expected.map((message) => message.split(' ')[1]),
      )
    })
  }

  test('a port of a pod that only ends is taken for a static pod, which is judged again, and free for one of the API', () => {
    const endingPods = [createPod({ metadata: { uid: 'u-2' }, spec: { containers } })]
    const info = { node, otherPods: [], endingPods, taintComparisons: false }
    const annotations = { [CONFIG_SOURCE_ANNOTATION]: 'file' }
    const found = computeMismatches(createPod({ metadata: { annotations }, spec: { containers } }), info)
    assert.deepEqual(
      found.map(({ message }) => message),
      [PORTS],
    )
    assert.deepEqual(computeMismatches(createPod({ spec: { containers } }), info), [])
  })

  test('a static pod bears every taint', () => {
    const pod = createPod({ metadata: { annotations: { [CONFIG_SOURCE_ANNOTATION]: 'file' } } })
    const info = { node: tainted, otherPods: [], endingPods: [], taintComparisons: false }
    assert.deepEqual(computeMismatches(pod, info), [])
  })
})

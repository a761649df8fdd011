import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PodSpec } from '../../../../model/generated/core-v1.ts'
import { validatePodUpdate } from './validate-pod-update.ts'

const before: PodSpec = {
  containers: [{ name: 'c', image: '1' }],
  initContainers: [{ name: 'i', image: '1' }],
  tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: 5 }],
  activeDeadlineSeconds: 10,
  nodeName: 'n',
}
const gated: PodSpec = { containers: before.containers, schedulingGates: [{ name: 'a' }, { name: 'b' }] }

describe('validatePodUpdate()', () => {
  const rows: readonly (readonly [string, PodSpec, PodSpec, readonly string[]])[] = [
    ['nothing', before, before, []],
    ['an image', before, { ...before, containers: [{ name: 'c', image: '2' }] }, []],
    ['an image of an init container', before, { ...before, initContainers: [{ name: 'i', image: '2' }] }, []],
    ['an image taken away', before, { ...before, containers: [{ name: 'c' }] }, ['spec']],
    ['a command', before, { ...before, containers: [{ name: 'c', image: '1', command: ['x'] }] }, ['spec']],
    [
      'a container more',
      before,
      { ...before, containers: [...before.containers, { name: 'd', image: '1' }] },
      ['spec'],
    ],
    ['the node', before, { ...before, nodeName: 'm' }, ['spec']],
    ['a shorter deadline', before, { ...before, activeDeadlineSeconds: 5 }, []],
    ['a longer deadline', before, { ...before, activeDeadlineSeconds: 50 }, ['spec.activeDeadlineSeconds']],
    ['no deadline', before, { ...before, activeDeadlineSeconds: undefined }, ['spec.activeDeadlineSeconds']],
    ['a toleration more', before, { ...before, tolerations: [...(before.tolerations ?? []), { key: 'b' }] }, []],
    [
      'a toleration for longer',
      before,
      { ...before, tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: 9 }] },
      [],
    ],
    ['a toleration less', before, { ...before, tolerations: [] }, ['spec.tolerations']],
    ['a gate less', gated, { ...gated, schedulingGates: [{ name: 'b' }] }, []],
    ['no gate, and a node', gated, { ...gated, schedulingGates: undefined, nodeName: 'n' }, []],
    [
      'a gate more',
      gated,
      { ...gated, schedulingGates: [...(gated.schedulingGates ?? []), { name: 'c' }] },
      ['spec.schedulingGates'],
    ],
    ['a narrower choice of nodes behind a gate', gated, { ...gated, nodeSelector: { a: 'b' } }, []],
    ['a choice of nodes without a gate', before, { ...before, nodeSelector: { a: 'b' } }, ['spec']],
  ]
  for (const [name, old, spec, expected] of rows) {
    test(name, () =>
      assert.deepEqual(
        validatePodUpdate(spec, old).map(({ path }) => path.toString()),
        expected,
      ),
    )
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ImageSpec } from '../cri/generated/runtime-v1.ts'
import type { VolumeMount } from '../model/generated/core-v1.ts'
import { computeVolumeMounts } from './compute-volume-mounts.ts'
import { ContainerConfigError } from './config-error.ts'

const spec = ImageSpec.fromPartial({ image: 'sha256:1', userSpecifiedImage: 'registry.test/data:1' })

function compute(mounts: readonly Partial<VolumeMount>[], recursiveReadOnlyMounts = false) {
  return computeVolumeMounts({
    container: { name: 'main', volumeMounts: mounts.map((mount) => ({ name: 'data', mountPath: '/data', ...mount })) },
    volumes: new Map([['data', { kind: 'image', spec }]]),
    environment: () => new Map([['PART', 'b']]),
    recursiveReadOnlyMounts,
  })
}

describe('computeVolumeMounts()', () => {
  test('mounts an image read-only, whole or in part, in the order of the spec', () => {
    const plain = {
      containerPath: '/data',
      hostPath: '',
      readOnly: true,
      recursiveReadOnly: false,
      propagation: 'None',
      selinuxRelabel: false,
      image: { spec, subPath: '' },
    }
    assert.deepEqual(
      compute([{}, { mountPath: 'relative', subPath: 'a' }, { mountPath: '/e', subPathExpr: 'a/$(PART)' }]),
      [
        plain,
        { ...plain, containerPath: '/relative', image: { spec, subPath: 'a' } },
        { ...plain, containerPath: '/e', image: { spec, subPath: 'a/b' } },
      ],
    )
  })

  test('has none for a container that mounts nothing', () => {
    const input = { volumes: new Map(), environment: () => new Map<string, string>(), recursiveReadOnlyMounts: true }
    assert.deepEqual(computeVolumeMounts({ ...input, container: { name: 'main' } }), [])
  })

  const rows: readonly (readonly [Partial<VolumeMount>, isAble: boolean, expected: boolean])[] = [
    [{ recursiveReadOnly: 'Disabled' }, true, false],
    [{ recursiveReadOnly: 'IfPossible', readOnly: true }, true, true],
    [{ recursiveReadOnly: 'IfPossible', readOnly: true }, false, false],
    [{ recursiveReadOnly: 'Enabled', readOnly: true, mountPropagation: 'None' }, true, true],
  ]
  for (const [mount, isAble, expected] of rows) {
    test(`${JSON.stringify(mount)} with a runtime that can${isAble ? '' : 'not'}: ${expected}`, () => {
      assert.equal(compute([mount], isAble)[0]?.recursiveReadOnly, expected)
    })
  }

  const refused: readonly (readonly [Partial<VolumeMount>, isAble: boolean, message: RegExp])[] = [
    [{ recursiveReadOnly: 'Enabled', readOnly: true }, false, /the container runtime does not support it/],
    [{ recursiveReadOnly: 'Enabled' }, true, /it is not mounted with readOnly: true/],
    [
      { recursiveReadOnly: 'IfPossible', readOnly: true, mountPropagation: 'HostToContainer' },
      true,
      /mountPropagation/,
    ],
    [{ recursiveReadOnly: 'Perhaps', readOnly: true }, true, /the mode is "Perhaps"/],
    [{ mountPropagation: 'Sideways' }, true, /Cannot use "Sideways" as mountPropagation/],
    [{ name: 'other' }, true, /cannot find volume "other" to mount into container "main"/],
    [{ subPathExpr: '$(NOBODY)' }, true, /missing value for "NOBODY"/],
  ]
  for (const [mount, isAble, message] of refused) {
    test(`refuses ${JSON.stringify(mount)}`, () => {
      assert.throws(
        () => compute([mount], isAble),
        (error: Error) => {
          assert.match(error.message, message)
          return error instanceof ContainerConfigError
        },
      )
    })
  }
})

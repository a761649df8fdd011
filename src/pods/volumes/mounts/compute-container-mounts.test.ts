import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ContainerConfigError } from '../../containers/pod-config-error.ts'
import { ImageSpec } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { VolumeMount } from '../../../model/generated/core-v1.ts'
import { computeContainerDevices, computeContainerMounts } from './compute-container-mounts.ts'
import type { ContainerMountsInput } from './compute-container-mounts.ts'
import type { ReadyVolume } from '../desired-volume.ts'

const spec = ImageSpec.fromPartial({ image: 'sha256:1', userSpecifiedImage: 'registry.test/data:1' })
const files: ReadyVolume = { kind: 'files', hostPath: '/v/data', readOnly: false, selinuxRelabel: true, groups: [] }
const VOLUMES: ReadonlyMap<string, ReadyVolume> = new Map<string, ReadyVolume>([
  ['data', files],
  ['cfg', { ...files, hostPath: '/v/cfg', readOnly: true }],
  ['disk', { kind: 'device', hostPath: '/dev/sdz', permissions: 'r' }],
])

function inputOf(
  mounts: readonly Partial<VolumeMount>[],
  parts: Partial<ContainerMountsInput> = {},
): ContainerMountsInput {
  return {
    container: { name: 'main', volumeMounts: mounts.map((mount) => ({ name: 'data', mountPath: '/data', ...mount })) },
    podDirectory: '/pods/u-1',
    find: (name) => {
      const ready = VOLUMES.get(name)
      return ready === undefined ? undefined : { specName: `spec-${name}`, ready }
    },
    images: new Map([['art', spec]]),
    environment: () => new Map([['PART', 'b']]),
    selinuxEnabled: true,
    recursiveReadOnlyMounts: false,
    ...parts,
  }
}

const plain = {
  containerPath: '/data',
  hostPath: '/v/data',
  readOnly: false,
  recursiveReadOnly: false,
  propagation: 'None',
  selinuxRelabel: true,
}

describe('computeContainerMounts()', () => {
  const rows: readonly (readonly [Partial<VolumeMount>, object, (object | undefined)?])[] = [
    [{}, plain],
    [{ mountPath: 'relative' }, { ...plain, containerPath: '/relative' }],
    [{ readOnly: true }, { ...plain, readOnly: true }],
    [{ name: 'cfg' }, { ...plain, hostPath: '/v/cfg', readOnly: true }],
    [{ mountPropagation: 'HostToContainer' }, { ...plain, propagation: 'HostToContainer' }],
    [{ mountPropagation: 'Bidirectional' }, { ...plain, propagation: 'Bidirectional' }],
    [
      { subPath: 'a' },
      { ...plain, hostPath: '/pods/u-1/volume-subpaths/spec-data/main/0' },
      { volumeName: 'data', root: '/v/data', path: 'a', target: '/pods/u-1/volume-subpaths/spec-data/main/0' },
    ],
    [
      { subPathExpr: 'a/$(PART)' },
      { ...plain, hostPath: '/pods/u-1/volume-subpaths/spec-data/main/0' },
      { volumeName: 'data', root: '/v/data', path: 'a/b', target: '/pods/u-1/volume-subpaths/spec-data/main/0' },
    ],
    [
      { name: 'art', subPath: 'a' },
      { ...plain, hostPath: '', readOnly: true, selinuxRelabel: false, image: { spec, subPath: 'a' } },
    ],
  ]
  for (const [mount, expected, part] of rows) {
    test(JSON.stringify(mount), () => {
      assert.deepEqual(computeContainerMounts(inputOf([mount])), [{ mount: expected, part }])
    })
  }

  test('keeps the order of the spec, and parts have the number of their mount', () => {
    const planned = computeContainerMounts(inputOf([{}, { subPath: 'x' }, { name: 'art' }, { subPath: 'x' }]))
    assert.deepEqual(
      planned.map(({ part }) => part?.target.split('/').at(-1)),
      [undefined, '1', undefined, '3'],
    )
    assert.deepEqual(computeContainerMounts({ ...inputOf([]), container: { name: 'main' } }), [])
  })

  test('asks for no label where there are none', () => {
    const [planned] = computeContainerMounts(inputOf([{}], { selinuxEnabled: false }))
    assert.equal(planned?.mount.selinuxRelabel, false)
  })

  const recursive: readonly (readonly [Partial<VolumeMount>, isAble: boolean, expected: boolean])[] = [
    [{ recursiveReadOnly: 'Disabled' }, true, false],
    [{ recursiveReadOnly: 'IfPossible', readOnly: true }, true, true],
    [{ recursiveReadOnly: 'IfPossible', readOnly: true }, false, false],
    [{ recursiveReadOnly: 'Enabled', readOnly: true, mountPropagation: 'None' }, true, true],
  ]
  for (const [mount, isAble, expected] of recursive) {
    test(`${JSON.stringify(mount)} with a runtime that can${isAble ? '' : 'not'}: ${expected}`, () => {
      const [planned] = computeContainerMounts(inputOf([mount], { recursiveReadOnlyMounts: isAble }))
      assert.equal(planned?.mount.recursiveReadOnly, expected)
    })
  }

  const rro = (why: string) => new RegExp(`^failed to resolve recursive read-only mode: ${why}$`)
  const refused: readonly (readonly [Partial<VolumeMount>, isAble: boolean, message: RegExp])[] = [
    [
      { recursiveReadOnly: 'Enabled', readOnly: true },
      false,
      rro('volume "data" requested recursive read-only mode, but it is not supported by the runtime'),
    ],
    [
      { recursiveReadOnly: 'Enabled' },
      true,
      rro('volume "data" requested recursive read-only mode, but it is not read-only'),
    ],
    [
      { recursiveReadOnly: 'IfPossible', readOnly: true, mountPropagation: 'HostToContainer' },
      true,
      rro(
        'volume "data" requested recursive read-only mode, but it is not compatible with propagation "HostToContainer"',
      ),
    ],
    [{ recursiveReadOnly: 'Perhaps', readOnly: true }, true, rro('unknown recursive read-only mode "Perhaps"')],
    [{ mountPropagation: 'Sideways' }, true, /Cannot use "Sideways" as mountPropagation/],
    [{ name: 'other' }, true, /cannot find volume "other" to mount into container "main"/],
    [{ name: 'disk' }, true, /cannot find volume "disk" to mount into container "main"/],
    [{ subPathExpr: '$(NOBODY)' }, true, /missing value for "NOBODY"/],
    [{ subPath: 'a/../../b' }, true, /must not contain '..'/],
  ]
  for (const [mount, isAble, message] of refused) {
    test(`refuses ${JSON.stringify(mount)}`, () => {
      assert.throws(
        () => computeContainerMounts(inputOf([mount], { recursiveReadOnlyMounts: isAble })),
        (error: Error) => {
          assert.match(error.message, message)
          return error instanceof ContainerConfigError
        },
      )
    })
  }
})

test('computeContainerDevices() passes block devices on, and nothing else', () => {
  const devices = (name: string) =>
    computeContainerDevices({
      ...inputOf([]),
      container: { name: 'main', volumeDevices: [{ name, devicePath: '/x' }] },
    })
  assert.deepEqual(devices('disk'), [{ containerPath: '/x', hostPath: '/dev/sdz', permissions: 'r' }])
  for (const name of ['data', 'other'])
    assert.throws(
      () => devices(name),
      new ContainerConfigError(`cannot find volume "${name}" to pass into container "main"`),
    )
})

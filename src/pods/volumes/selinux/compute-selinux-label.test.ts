import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import type { SELinuxOptions } from '../../../model/generated/core-v1.ts'
import type { VolumeSource } from '../desired-volume.ts'
import { accessModeLabel, computeSelinuxLabel, isLabelledMode, selinuxMountOptions } from './compute-selinux-label.ts'
import type { SelinuxLabel } from './compute-selinux-label.ts'

const LEVEL = 's0:c10,c0'
const label = (text: string): SelinuxLabel => ({ kind: 'label', label: text })
const NONE = label('')

interface Row {
  readonly name: string
  readonly pod?: SELinuxOptions
  /** Of containers that mount the volume. */
  readonly containers?: readonly (SELinuxOptions | undefined)[]
  readonly policy?: string
  readonly obeysChangePolicy?: boolean
  readonly expected: SelinuxLabel
}

const rows: readonly Row[] = [
  { name: 'nothing is asked for', expected: NONE },
  {
    name: 'the level of the pod, with the rest of files of containers',
    pod: { level: LEVEL },
    expected: label(`system_u:object_r:container_file_t:${LEVEL}`),
  },
  {
    name: 'the user too, but neither role nor type: those are of processes',
    pod: { level: LEVEL, user: 'staff_u', role: 'staff_r', type: 'spc_t' },
    expected: label(`staff_u:object_r:container_file_t:${LEVEL}`),
  },
  {
    name: 'of the container before that of the pod',
    pod: { level: 's0:c1,c2' },
    containers: [{ level: LEVEL }],
    expected: label(`system_u:object_r:container_file_t:${LEVEL}`),
  },
  {
    name: 'containers that ask for none agree with all',
    containers: [{ level: LEVEL }, undefined],
    expected: label(`system_u:object_r:container_file_t:${LEVEL}`),
  },
  {
    name: 'containers that agree',
    containers: [{ level: LEVEL }, { level: LEVEL, type: 'spc_t' }],
    expected: label(`system_u:object_r:container_file_t:${LEVEL}`),
  },
  {
    name: 'containers that do not agree',
    containers: [{ level: 's0:c1,c2' }, { level: 's0:c3,c4' }],
    expected: {
      kind: 'pod',
      message:
        'multiple SELinux labels found: system_u:object_r:container_file_t:s0:c1,c2,system_u:object_r:container_file_t:s0:c3,c4',
    },
  },
  { name: 'a level that only the runtime will know', pod: { type: 'container_t' }, expected: NONE },
  { name: 'empty options', pod: {}, expected: NONE },
  { name: 'a pod that wants its files relabelled', pod: { level: LEVEL }, policy: 'Recursive', expected: NONE },
  {
    name: 'the same where its policy is not obeyed',
    pod: { level: LEVEL },
    policy: 'Recursive',
    obeysChangePolicy: false,
    expected: label(`system_u:object_r:container_file_t:${LEVEL}`),
  },
  {
    name: 'a pod that wants the mount option',
    pod: { level: LEVEL },
    policy: 'MountOption',
    expected: label(`system_u:object_r:container_file_t:${LEVEL}`),
  },
  {
    name: 'what would be more than a label in the options of a mount',
    pod: { level: 's0",dev,context="x' },
    expected: {
      kind: 'container',
      message: String.raw`failed to construct SELinux label from context "system_u:object_r:container_file_t:s0\",dev,context=\"x"`,
    },
  },
]

describe('computeSelinuxLabel()', () => {
  for (const { name, pod, containers = [undefined], policy, obeysChangePolicy = true, expected } of rows) {
    test(name, () => {
      const volumeMounts = [{ name: 'data', mountPath: '/data' }]
      const used = containers.map((seLinuxOptions, index) =>
        createContainer({ name: `c-${index}`, volumeMounts, securityContext: { seLinuxOptions } }),
      )
      const other = createContainer({ name: 'other', securityContext: { seLinuxOptions: { level: 's0:c99' } } })
      const securityContext = { seLinuxOptions: pod, seLinuxChangePolicy: policy }
      const input = {
        pod: createPod({ spec: { containers: [...used, other], securityContext } }),
        volumeName: 'data',
        fileContext: 'system_u:object_r:container_file_t:s0',
        obeysChangePolicy,
      }
      assert.deepEqual(computeSelinuxLabel(input), expected)
    })
  }
})

const persistent = (...accessModes: string[]): VolumeSource => ({
  kind: 'persistent',
  volume: { spec: { accessModes } },
  claim: undefined,
})
const inline: VolumeSource = { kind: 'inline', volume: { name: 'data' } }
const modes: readonly (readonly [VolumeSource, string, forOne: boolean, forAll: boolean])[] = [
  [inline, 'inline', false, false],
  [persistent('ReadWriteOncePod'), 'RWOP', true, true],
  [persistent('ReadWriteOncePod', 'ReadWriteOnce'), 'RWO', false, true],
  [persistent('ReadWriteOnce', 'ReadOnlyMany'), 'ROX', false, true],
  [persistent('ReadWriteOnce', 'ReadWriteMany'), 'RWX', false, true],
  [persistent(), '', false, true],
]

describe('isLabelledMode()', () => {
  for (const [source, name, forOne, forAll] of modes) {
    test(`${name || 'no access mode'}: for one pod ${forOne}, with the gate SELinuxMount ${forAll}`, () => {
      assert.equal(accessModeLabel(source), name)
      assert.equal(isLabelledMode(source, { forOnePod: true, forAll: false }), forOne)
      assert.equal(isLabelledMode(source, { forOnePod: true, forAll: true }), forAll)
      assert.equal(isLabelledMode(source, { forOnePod: false, forAll: true }), false)
    })
  }
})

test('selinuxMountOptions() quotes the label, which has commas', () => {
  assert.deepEqual(selinuxMountOptions('u:r:t:s0:c1,c2'), ['context="u:r:t:s0:c1,c2"'])
  assert.deepEqual([selinuxMountOptions(''), selinuxMountOptions(undefined)], [[], []])
})

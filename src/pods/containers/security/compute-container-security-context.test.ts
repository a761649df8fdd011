import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../../test/builders/create-pod.ts'
import {
  NamespaceMode,
  SecurityProfile_ProfileType as ProfileType,
  SupplementalGroupsPolicy,
} from '../../../protocols/cri/generated/runtime-v1.ts'
import type { LinuxContainerSecurityContext } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { EphemeralContainer, PodSpec, SecurityContext } from '../../../model/generated/core-v1.ts'
import { computeContainerSecurityContext } from './compute-container-security-context.ts'
import type { ContainerSecurityInput } from './compute-container-security-context.ts'
import { ContainerConfigError } from '../pod-config-error.ts'

const throttle = '/sys/devices/system/cpu/cpu0/thermal_throttle'
const namespaceOptions = {
  network: NamespaceMode.POD,
  ipc: NamespaceMode.POD,
  pid: NamespaceMode.CONTAINER,
  targetId: '',
  usernsOptions: { mode: NamespaceMode.NODE, uids: [], gids: [] },
}
const plain: LinuxContainerSecurityContext = {
  capabilities: undefined,
  privileged: false,
  namespaceOptions,
  selinuxOptions: undefined,
  runAsUser: { value: 0n },
  runAsUsername: '',
  runAsGroup: undefined,
  readonlyRootfs: false,
  supplementalGroups: [],
  supplementalGroupsPolicy: SupplementalGroupsPolicy.Merge,
  apparmor: undefined,
  apparmorProfile: '',
  seccomp: { profileType: ProfileType.Unconfined, localhostRef: '' },
  seccompProfilePath: '',
  noNewPrivs: false,
  maskedPaths: [
    '/proc/asound',
    '/proc/acpi',
    '/proc/interrupts',
    '/proc/kcore',
    '/proc/keys',
    '/proc/latency_stats',
    '/proc/timer_list',
    '/proc/timer_stats',
    '/proc/sched_debug',
    '/proc/scsi',
    '/sys/firmware',
    '/sys/devices/virtual/powercap',
    throttle,
  ],
  readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
}

function compute(spec: Partial<PodSpec>, own: SecurityContext, changes: Partial<ContainerSecurityInput> = {}) {
  return computeContainerSecurityContext({
    pod: createPod({ spec }),
    podContainer: { kind: 'regular', container: createContainer({ securityContext: own }) },
    image: { username: '' },
    userNamespace: undefined,
    targetContainerId: undefined,
    volumeGroups: [],
    settings: { seccompDefault: false, seccompDirectory: '/r/seccomp', thermalThrottlePaths: [throttle] },
    ...changes,
  })
}

describe('computeContainerSecurityContext()', () => {
  const rows: readonly {
    readonly name: string
    readonly spec?: Partial<PodSpec>
    readonly own?: SecurityContext
    readonly changes?: Partial<ContainerSecurityInput>
    readonly expected: Partial<LinuxContainerSecurityContext>
  }[] = [
    { name: 'nothing said', expected: {} },
    {
      name: 'capabilities are passed on as they are',
      own: { capabilities: { add: ['NET_ADMIN', 'ALL'], drop: ['chown'] } },
      expected: {
        capabilities: {
          addCapabilities: ['NET_ADMIN', 'ALL'],
          dropCapabilities: ['chown'],
          addAmbientCapabilities: [],
        },
      },
    },
    {
      name: 'privileged, read-only root',
      own: { privileged: true, readOnlyRootFilesystem: true },
      expected: { privileged: true, readonlyRootfs: true },
    },
    { name: 'no more rights, said', own: { allowPrivilegeEscalation: false }, expected: { noNewPrivs: true } },
    { name: 'more rights, said', own: { allowPrivilegeEscalation: true }, expected: {} },
    { name: 'all of /proc', own: { procMount: 'Unmasked' }, expected: { maskedPaths: [], readonlyPaths: [] } },
    { name: '/proc as usual', own: { procMount: 'Default' }, expected: {} },
    {
      name: 'groups: of the pod, listed, of volumes, each once',
      spec: { securityContext: { fsGroup: 5, supplementalGroups: [6, 7], supplementalGroupsPolicy: 'Strict' } },
      changes: { volumeGroups: [7, 8, 8] },
      expected: { supplementalGroups: [5n, 6n, 7n, 8n], supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict },
    },
    {
      name: 'groups merge when said so',
      spec: { securityContext: { supplementalGroupsPolicy: 'Merge' } },
      expected: {},
    },
    {
      name: 'SELinux of the pod',
      spec: { securityContext: { seLinuxOptions: { level: 's0' } } },
      expected: { selinuxOptions: { user: '', role: '', type: '', level: 's0' } },
    },
    {
      name: 'SELinux of the container before it',
      spec: { securityContext: { seLinuxOptions: { level: 's0' } } },
      own: { seLinuxOptions: { type: 't', user: 'u', role: 'r' } },
      expected: { selinuxOptions: { user: 'u', role: 'r', type: 't', level: '' } },
    },
    {
      name: 'users and profiles',
      own: {
        runAsUser: 4,
        runAsGroup: 5,
        appArmorProfile: { type: 'Unconfined' },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      expected: {
        runAsUser: { value: 4n },
        runAsGroup: { value: 5n },
        apparmor: { profileType: ProfileType.Unconfined, localhostRef: '' },
        apparmorProfile: 'unconfined',
        seccomp: { profileType: ProfileType.RuntimeDefault, localhostRef: '' },
      },
    },
  ]
  for (const { name, spec = {}, own = {}, changes, expected } of rows) {
    test(name, () => assert.deepEqual(compute(spec, own, changes), { ...plain, ...expected }))
  }

  const container: EphemeralContainer = { name: 'look', targetContainerName: 'main' }
  const ephemeral = { kind: 'ephemeral' as const, container }

  test('an ephemeral container joins the processes of its target', () => {
    const joined = compute({}, {}, { podContainer: ephemeral, targetContainerId: 'c0ffee' })
    const expected = { ...namespaceOptions, pid: NamespaceMode.TARGET, targetId: 'c0ffee' }
    assert.deepEqual(joined.namespaceOptions, expected)
  })

  test('an ephemeral container of a pod with common processes needs no target', () => {
    const shared = compute(
      { shareProcessNamespace: true },
      {},
      { podContainer: ephemeral, targetContainerId: 'c0ffee' },
    )
    assert.deepEqual(shared.namespaceOptions, { ...namespaceOptions, pid: NamespaceMode.POD })
  })

  test('an ephemeral container without a target keeps to itself', () => {
    const podContainer = { kind: 'ephemeral' as const, container: { name: 'look' } }
    assert.deepEqual(compute({}, {}, { podContainer }).namespaceOptions, namespaceOptions)
  })

  test('rejects a target that was never made', () => {
    assert.throws(
      () => compute({}, {}, { podContainer: ephemeral }),
      new ContainerConfigError('Cannot look into container "main": it has no instance in this pod'),
    )
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import {
  NamespaceMode,
  Protocol,
  SecurityProfile_ProfileType as ProfileType,
  SupplementalGroupsPolicy,
} from '../../protocols/cri/generated/runtime-v1.ts'
import type { LinuxPodSandboxConfig, LinuxSandboxSecurityContext } from '../../protocols/cri/generated/runtime-v1.ts'
import type { PodSpec } from '../../model/generated/core-v1.ts'
import { NO_LINUX_RESOURCES } from './compute-cpu-and-memory.ts'
import { computePodSandboxConfig } from './compute-pod-sandbox-config.ts'
import type { SandboxInstance, SandboxNodeSettings } from './compute-pod-sandbox-config.ts'

const settings: SandboxNodeSettings = {
  podLogsDirectory: '/var/log/pods',
  dns: {
    clusterDns: [],
    clusterDomain: 'cluster.test',
    resolvConf: '/etc/resolv.conf',
    primaryFamily: 'IPv4',
  },
  cgroups: { driver: 'cgroupfs', root: '/', perQos: true },
  cpu: { cpuCfsQuota: true, cpuCfsQuotaPeriodMicroseconds: 100_000n },
  seccompProfile: undefined,
}
const instance: SandboxInstance = {
  attempt: 0,
  userNamespace: undefined,
  volumeGroups: [],
  resolver: { servers: ['192.0.2.1'], searches: [], options: [] },
}
const securityContext: LinuxSandboxSecurityContext = {
  namespaceOptions: {
    network: NamespaceMode.POD,
    ipc: NamespaceMode.POD,
    pid: NamespaceMode.CONTAINER,
    targetId: '',
    usernsOptions: { mode: NamespaceMode.NODE, uids: [], gids: [] },
  },
  selinuxOptions: undefined,
  runAsUser: undefined,
  runAsGroup: undefined,
  readonlyRootfs: false,
  supplementalGroups: [],
  supplementalGroupsPolicy: SupplementalGroupsPolicy.Merge,
  privileged: false,
  seccomp: { profileType: ProfileType.RuntimeDefault, localhostRef: '' },
  seccompProfilePath: '',
  apparmor: undefined,
}
const linux: LinuxPodSandboxConfig = {
  cgroupParent: '/kubepods/besteffort/podu-1',
  sysctls: {},
  securityContext,
  resources: { ...NO_LINUX_RESOURCES, cpuShares: 2n, cpuPeriod: 100_000n },
  overhead: NO_LINUX_RESOURCES,
}
const linuxOf = (spec: Partial<PodSpec>, changes: Partial<SandboxInstance> = {}) =>
  computePodSandboxConfig(createPod({ spec }), { ...instance, ...changes }, settings).config.linux

describe('computePodSandboxConfig()', () => {
  test('the whole description of a pod', () => {
    const pod = createPod({
      metadata: {
        labels: { app: 'shop', 'io.kubernetes.pod.name': 'forged' },
        annotations: { 'kubernetes.io/config.source': 'api' },
      },
      spec: { dnsPolicy: 'Default', containers: [createContainer({ ports: [{ containerPort: 80 }] })] },
    })
    assert.deepEqual(computePodSandboxConfig(pod, { ...instance, attempt: 3 }, settings), {
      config: {
        metadata: { name: 'web', namespace: 'shop', uid: 'u-1', attempt: 3 },
        hostname: 'web',
        logDirectory: '/var/log/pods/shop_web_u-1',
        dnsConfig: { servers: ['192.0.2.1'], searches: [], options: [] },
        portMappings: [{ protocol: Protocol.TCP, containerPort: 80, hostPort: 0, hostIp: '' }],
        labels: {
          app: 'shop',
          'io.kubernetes.pod.name': 'web',
          'io.kubernetes.pod.namespace': 'shop',
          'io.kubernetes.pod.uid': 'u-1',
        },
        annotations: { 'kubernetes.io/config.source': 'api' },
        linux,
      },
      warnings: [],
    })
  })

  test('warnings about the resolver come along', () => {
    const { warnings } = computePodSandboxConfig(createPod(), instance, settings)
    assert.deepEqual(
      warnings.map(({ reason }) => reason),
      ['MissingClusterDNS'],
    )
  })

  test('a pod without a security context is described as one with an empty one', () => {
    assert.deepEqual(linuxOf({ securityContext: undefined }), linux)
  })

  test('sysctls are spelled with dots', () => {
    const sysctls = [
      { name: 'net.ipv4.tcp_syncookies', value: '1' },
      { name: 'kernel/shm_rmid_forced', value: '0' },
      { name: 'net/ipv4/conf/eth0.1/rp_filter', value: '2' },
    ]
    assert.deepEqual(linuxOf({ securityContext: { sysctls } })?.sysctls, {
      'net.ipv4.tcp_syncookies': '1',
      'kernel.shm_rmid_forced': '0',
      'net.ipv4.conf.eth0/1.rp_filter': '2',
    })
  })

  const contexts: readonly {
    readonly name: string
    readonly spec: Partial<PodSpec>
    readonly changes?: Partial<SandboxInstance>
    readonly expected: Partial<LinuxSandboxSecurityContext>
  }[] = [
    {
      name: 'privileged when any container is',
      spec: { initContainers: [createContainer({ securityContext: { privileged: true } })] },
      expected: { privileged: true },
    },
    {
      name: 'privileged when an ephemeral container is',
      spec: { ephemeralContainers: [{ name: 'look', securityContext: { privileged: true } }] },
      expected: { privileged: true },
    },
    {
      name: 'user, group and label of the pod',
      spec: { securityContext: { runAsUser: 0, runAsGroup: 5, seLinuxOptions: { level: 's0' } } },
      expected: {
        runAsUser: { value: 0n },
        runAsGroup: { value: 5n },
        selinuxOptions: { user: '', role: '', type: '', level: 's0' },
      },
    },
    {
      name: 'groups: of the pod, of volumes, listed',
      spec: { securityContext: { fsGroup: 5, supplementalGroups: [6, 7], supplementalGroupsPolicy: 'Strict' } },
      changes: { volumeGroups: [7, 8] },
      expected: { supplementalGroups: [5n, 8n, 6n, 7n], supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict },
    },
    {
      name: 'always the seccomp profile of the runtime',
      spec: { securityContext: { seccompProfile: { type: 'Unconfined' } } },
      expected: {},
    },
  ]
  for (const { name, spec, changes, expected } of contexts) {
    test(name, () => assert.deepEqual(linuxOf(spec, changes)?.securityContext, { ...securityContext, ...expected }))
  }

  test('the seccomp profile that the node has for sandboxes', () => {
    const { config } = computePodSandboxConfig(createPod(), instance, { ...settings, seccompProfile: '/p.json' })
    assert.deepEqual(config.linux?.securityContext?.seccomp, {
      profileType: ProfileType.Localhost,
      localhostRef: '/p.json',
    })
  })

  test('resources are those of the whole pod, overhead is apart', () => {
    const resources = { requests: { cpu: '500m', memory: '1Mi' }, limits: { cpu: '1', memory: '2Mi' } }
    const containers = [createContainer({ resources }), createContainer({ resources })]
    const described = linuxOf({ containers, overhead: { cpu: '250m', memory: '10' } })
    assert.deepEqual(described?.resources, {
      ...NO_LINUX_RESOURCES,
      cpuShares: 1024n,
      cpuPeriod: 100_000n,
      cpuQuota: 200_000n,
      memoryLimitInBytes: 4_194_304n,
    })
    assert.deepEqual(described?.overhead, {
      ...NO_LINUX_RESOURCES,
      cpuShares: 256n,
      cpuPeriod: 100_000n,
      cpuQuota: 25_000n,
      memoryLimitInBytes: 10n,
    })
    assert.equal(described?.cgroupParent, '/kubepods/burstable/podu-1')
  })
})

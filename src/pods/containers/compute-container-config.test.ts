import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createEnvironmentSources } from '../../../test/builders/create-environment-sources.ts'
import { createContainer, createPod } from '../../../test/builders/create-pod.ts'
import { ContainerConfig, MountPropagation, Signal } from '../../protocols/cri/generated/runtime-v1.ts'
import { containerHash } from '../../model/pod/container-hash.ts'
import type { Container } from '../../model/generated/core-v1.ts'
import { computeContainerConfig } from './compute-container-config.ts'
import type { ContainerInstance, ContainerNodeSettings } from './compute-container-config.ts'
import { computeContainerResources } from './compute-container-resources.ts'
import { computeContainerSecurityContext } from './security/compute-container-security-context.ts'
import { NO_INJECTIONS } from './container-injections.ts'
import { ContainerConfigError } from './pod-config-error.ts'
import { computePodPaths } from './pod-paths.ts'

const pod = createPod()
const node: ContainerNodeSettings = {
  ips: ['192.0.2.1'],
  allocatable: new Map(),
  selinuxEnabled: false,
  stopSignals: false,
  resources: {
    cgroupVersion: 2,
    cpuCfsQuota: true,
    cpuCfsQuotaPeriodMicroseconds: 100_000n,
    hugepageSizes: ['2MB'],
    memoryCapacityBytes: 1_000_000n,
    swap: { controller: true, behavior: 'NoSwap', capacityBytes: 0n },
    singleProcessOomKill: false,
    memoryQos: undefined,
  },
  security: { seccompDefault: true, seccompDirectory: '/r/seccomp', thermalThrottlePaths: [] },
}
const instance: ContainerInstance = {
  restartCount: 2,
  image: { ref: 'sha256:beef', uid: 7n, username: '' },
  podIps: ['10.1.0.2'],
  mounts: [],
  devices: [],
  injections: NO_INJECTIONS,
  paths: computePodPaths('/r', pod.metadata.uid),
  random32: 0xabc,
  volumeGroups: [],
  userNamespace: undefined,
  targetContainerId: undefined,
  cpuset: undefined,
}
const compute = (container: Partial<Container>, changes: Partial<ContainerInstance> = {}, settings = node) =>
  computeContainerConfig({
    pod,
    podContainer: { kind: 'regular', container: createContainer(container) },
    instance: { ...instance, ...changes },
    node: settings,
    sources: createEnvironmentSources(),
  })
const bytes = (text: string) => new Uint8Array(Buffer.from(text))
const ownMount = {
  readonly: false,
  recursiveReadOnly: false,
  propagation: MountPropagation.PROPAGATION_PRIVATE,
  uidMappings: [],
  gidMappings: [],
  image: undefined,
  imageSubPath: '',
}

describe('computeContainerConfig()', () => {
  test('the whole description of a container', () => {
    const container = createContainer({
      command: ['run', '$(NAME)', '$(HOME)'],
      args: ['$$(NAME)', '--ip=$(IP)'],
      env: [
        { name: 'NAME', value: 'grüße' },
        { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
      ],
      workingDir: '/app',
      stdin: true,
      stdinOnce: true,
      tty: true,
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    })
    const podContainer = { kind: 'regular' as const, container }
    assert.deepEqual(compute(container), {
      metadata: { name: 'main', attempt: 2 },
      image: {
        image: 'sha256:beef',
        userSpecifiedImage: 'registry.test/app:1',
        annotations: {},
        runtimeHandler: '',
        imageRef: '',
      },
      command: ['run', 'grüße', '$(HOME)'],
      args: ['$(NAME)', '--ip=10.1.0.2'],
      workingDir: '/app',
      envs: [
        { key: 'NAME', value: bytes('grüße') },
        { key: 'IP', value: bytes('10.1.0.2') },
      ],
      mounts: [
        { ...ownMount, containerPath: '/etc/hosts', hostPath: '/r/pods/u-1/etc-hosts', selinuxRelabel: false },
        {
          ...ownMount,
          containerPath: '/dev/termination-log',
          hostPath: '/r/pods/u-1/containers/main/00000abc',
          selinuxRelabel: false,
        },
      ],
      devices: [],
      CDIDevices: [],
      labels: {
        'io.kubernetes.pod.name': 'web',
        'io.kubernetes.pod.namespace': 'shop',
        'io.kubernetes.pod.uid': 'u-1',
        'io.kubernetes.container.name': 'main',
      },
      annotations: {
        'io.kubernetes.container.hash': containerHash(container),
        'io.kubernetes.container.restartCount': '2',
        'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
        'io.kubernetes.container.terminationMessagePolicy': 'File',
      },
      logPath: 'main/2.log',
      stdin: true,
      stdinOnce: true,
      tty: true,
      linux: {
        resources: computeContainerResources({ pod, podContainer, cpuset: undefined, settings: node.resources }),
        securityContext: computeContainerSecurityContext({
          pod,
          podContainer,
          image: instance.image,
          userNamespace: undefined,
          targetContainerId: undefined,
          volumeGroups: [],
          settings: node.security,
        }),
      },
      stopSignal: Signal.RUNTIME_DEFAULT,
    })
  })

  test('a container that says nothing leaves everything to its image', () => {
    const { command, args, workingDir, stdin, stdinOnce, tty, envs, mounts } = compute({}, { podIps: [] })
    assert.deepEqual(
      { command, args, workingDir, stdin, stdinOnce, tty, envs, mounts },
      { command: [], args: [], workingDir: '', stdin: false, stdinOnce: false, tty: false, envs: [], mounts: [] },
    )
  })

  test('a container with CPUs of its own is made without a quota', () => {
    const resources = { requests: { cpu: '2' }, limits: { cpu: '2' } }
    const quotaOf = (changes: Partial<ContainerInstance>) => compute({ resources }, changes).linux?.resources?.cpuQuota
    assert.equal(quotaOf({}), 200_000n)
    assert.equal(quotaOf({ cpuset: { cpus: '2-3', mems: '', exclusive: true } }), 0n)
  })

  test('others add variables, annotations, mounts and devices, before those of the spec; the annotations of the agent win', () => {
    const device = { hostPath: '/dev/fuse', containerPath: '/dev/fuse', permissions: 'rw' }
    const disk = { hostPath: '/dev/loop0', containerPath: '/dev/disk', permissions: 'mrw' }
    const mount = { readOnly: true, recursiveReadOnly: false, propagation: 'None', selinuxRelabel: false } as const
    const [library, data] = [
      { ...mount, hostPath: '/opt/lib', containerPath: '/lib' },
      { ...mount, hostPath: '/data', containerPath: '/data' },
    ]
    const config = compute(
      { args: ['$(GPU)'] },
      {
        podIps: [],
        mounts: [data],
        devices: [disk],
        injections: {
          mounts: [library],
          variables: [{ name: 'GPU', value: '0' }],
          annotations: { 'vendor.test/a': 'b', 'io.kubernetes.container.restartCount': 'forged' },
          devices: [device],
          cdiDevices: ['vendor.test/gpu=0'],
        },
      },
    )
    assert.deepEqual(config.args, ['0'])
    assert.deepEqual(config.envs, [{ key: 'GPU', value: bytes('0') }])
    assert.deepEqual(config.devices, [device, disk])
    assert.deepEqual(
      config.mounts.map(({ hostPath }) => hostPath),
      ['/opt/lib', '/data'],
    )
    assert.deepEqual(config.CDIDevices, [{ name: 'vendor.test/gpu=0' }])
    assert.equal(config.annotations['vendor.test/a'], 'b')
    assert.equal(config.annotations['io.kubernetes.container.restartCount'], '2')
  })

  for (const [name, signal] of [
    ['SIGUSR1', Signal.SIGUSR1],
    ['SIGRTMIN+3', Signal.SIGRTMINPLUS3],
    ['SIGRTMAX-14', Signal.SIGRTMAXMINUS14],
    ['SIGNAL', Signal.RUNTIME_DEFAULT],
  ] as const) {
    test(`the stop signal ${name} is the runtime's ${signal}, where the node lets containers choose`, () => {
      const container = { lifecycle: { stopSignal: name } }
      assert.equal(compute(container, {}, { ...node, stopSignals: true }).stopSignal, signal)
      assert.equal(compute(container).stopSignal, Signal.RUNTIME_DEFAULT)
    })
  }

  test('what cannot be met is reported with the reason of the waiting state', () => {
    const env = [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'gone', key: 'k' } } }]
    assert.throws(
      () => compute({ env }),
      (error: unknown) =>
        error instanceof ContainerConfigError &&
        error.reason === 'CreateContainerConfigError' &&
        error.message === 'configmap "gone" not found',
    )
  })

  test('goes over the wire unchanged', () => {
    const config = compute({ env: [{ name: 'A', value: 'ü' }], resources: { limits: { cpu: '1', memory: '1Gi' } } })
    const back = ContainerConfig.decode(ContainerConfig.encode(config).finish())
    assert.deepEqual(JSON.stringify(back, jsonBytes), JSON.stringify(ContainerConfig.fromPartial(config), jsonBytes))
  })
})

function jsonBytes(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}`
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
}

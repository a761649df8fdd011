import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  ContainerConfig,
  MountPropagation,
  NamespaceMode,
  SecurityProfile_ProfileType as ProfileType,
  Signal,
} from '../../cri/generated/runtime-v1.ts'
import { computeContainer } from './compute-container.ts'
import type { ContainerSurroundings } from './compute-container.ts'

const surroundings: ContainerSurroundings = {
  apiVersion: '1.41',
  cgroupDriver: 'cgroupfs',
  leastOomScore: -1000,
  sandboxId: 'box',
  cgroupParent: '/kubepods/podabc',
  hostNetwork: false,
  environment: [],
  runtime: '',
  logPath: '/var/log/pods/x/main/0.log',
  logLimits: { maxSizeBytes: 10_485_760, maxFiles: 5 },
  seccompProfile: undefined,
}

type Given = Parameters<typeof ContainerConfig.fromPartial>[0]
interface Body {
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly User: string
  readonly StopSignal?: string
  readonly Healthcheck?: object
  readonly HostConfig: Readonly<Record<string, unknown>>
}

function compute(config: Given, more: Partial<ContainerSurroundings> = {}): Body {
  return computeContainer(ContainerConfig.fromPartial(config), { ...surroundings, ...more }) as unknown as Body
}

const secure = (securityContext: object): Given => ({ linux: { securityContext } })

describe('computeContainer()', () => {
  test('joins the namespaces of its sandbox, and has processes of its own unless it shares them', () => {
    const host = compute(secure({ namespaceOptions: { pid: NamespaceMode.CONTAINER } })).HostConfig
    assert.deepEqual([host['NetworkMode'], host['IpcMode'], host['PidMode']], ['container:box', 'container:box', ''])
    const pid = (options: object) => compute(secure({ namespaceOptions: options })).HostConfig['PidMode']
    assert.equal(pid({ pid: NamespaceMode.POD }), 'container:box')
    assert.equal(pid({ pid: NamespaceMode.NODE }), 'host')
    assert.equal(pid({ pid: NamespaceMode.TARGET, targetId: 'other' }), 'container:other')
  })

  test('leaves to the image what is not given', () => {
    assert.deepEqual([compute({}).Entrypoint, compute({}).Cmd], [undefined, undefined])
    const both = compute({ command: ['sh'], args: ['-c', 'x'] })
    assert.deepEqual([both.Entrypoint, both.Cmd], [['sh'], ['-c', 'x']])
    const [program, words] = [compute({ command: ['sh'] }), compute({ args: ['x'] })]
    assert.deepEqual([program.Entrypoint, program.Cmd ?? []], [['sh'], []])
    assert.deepEqual([words.Entrypoint, words.Cmd], [undefined, ['x']])
  })

  test('runs no health check of its image, and no init of Docker', () => {
    const { Healthcheck: check, HostConfig: host } = compute({})
    assert.deepEqual([check, host['Init']], [{ Test: ['NONE'] }, false])
  })

  test('limits swap with memory, and has Docker rotate the log', () => {
    const host = compute({
      linux: { resources: { memoryLimitInBytes: 64n, cpuShares: 102n, cpuQuota: 5000n, cpuPeriod: 100_000n } },
    }).HostConfig
    assert.deepEqual(
      [host['Memory'], host['MemorySwap'], host['CpuShares'], host['CpuQuota'], host['CpuPeriod']],
      [64, 64, 102, 5000, 100_000],
    )
    assert.deepEqual(host['LogConfig'], { Type: 'json-file', Config: { 'max-size': '10485760', 'max-file': '5' } })
    const never = compute({}, { logLimits: { maxSizeBytes: -1, maxFiles: 5 } }).HostConfig
    assert.deepEqual(never['LogConfig'], { Type: 'json-file', Config: {} })
  })

  const seccomp: readonly (readonly [about: string, context: object, expected: readonly string[]])[] = [
    ['none', {}, ['seccomp=unconfined']],
    ['unconfined', { seccomp: { profileType: ProfileType.Unconfined } }, ['seccomp=unconfined']],
    ['that of Docker', { seccomp: { profileType: ProfileType.RuntimeDefault } }, []],
    ['a file', { seccomp: { profileType: ProfileType.Localhost, localhostRef: '/p' } }, ['seccomp={"a":1}']],
    ['a privileged container', { privileged: true }, []],
  ]
  for (const [about, context, expected] of seccomp) {
    test(`seccomp: ${about}`, () => {
      const { HostConfig: host } = compute(secure(context), { seccompProfile: '{ "a": 1 }' })
      assert.deepEqual(host['SecurityOpt'], expected)
    })
  }

  test('seccomp: a file that is no profile', () => {
    const seccomp = { profileType: ProfileType.Localhost, localhostRef: '/p' }
    assert.throws(
      () => compute(secure({ seccomp }), { seccompProfile: '{ "a"' }),
      /Cannot use the seccomp profile "\/p"/,
    )
  })

  test('AppArmor, SELinux and privileges', () => {
    const options = (context: object) =>
      compute(secure({ seccomp: { profileType: ProfileType.RuntimeDefault }, ...context })).HostConfig['SecurityOpt']
    assert.deepEqual(options({ apparmor: { profileType: ProfileType.Localhost, localhostRef: 'p' } }), ['apparmor=p'])
    assert.deepEqual(options({ apparmor: { profileType: ProfileType.Unconfined } }), ['apparmor=unconfined'])
    assert.deepEqual(options({ apparmor: { profileType: ProfileType.RuntimeDefault } }), [])
    assert.deepEqual(options({ noNewPrivs: true }), ['no-new-privileges'])
    const selinuxOptions = { user: 'u', role: '', type: 't', level: 's0' }
    assert.deepEqual(options({ selinuxOptions }), ['label=user:u', 'label=type:t', 'label=level:s0'])
  })

  test('masks what it is asked to mask, and nothing of a privileged container', () => {
    const host = compute(secure({ maskedPaths: ['/proc/kcore'], readonlyPaths: [] })).HostConfig
    assert.deepEqual([host['MaskedPaths'], host['ReadonlyPaths']], [['/proc/kcore'], []])
    assert.ok(!('MaskedPaths' in compute(secure({ privileged: true })).HostConfig))
  })

  test('users and groups', () => {
    const user = (context: object) => compute(secure(context)).User
    assert.equal(user({ runAsUser: { value: 7n }, runAsGroup: { value: 8n } }), '7:8')
    assert.equal(user({ runAsUsername: 'web' }), 'web')
    assert.throws(() => user({ runAsGroup: { value: 8n } }), /runAsGroup is specified without a runAsUser/)
    assert.deepEqual(compute(secure({ supplementalGroups: [1n, 2n] })).HostConfig['GroupAdd'], ['1', '2'])
  })

  test('mounts with propagation, also paths with a colon', () => {
    const mounts = [
      { hostPath: '/a:b', containerPath: '/a', readonly: true },
      { hostPath: '/c', containerPath: '/c', propagation: MountPropagation.PROPAGATION_HOST_TO_CONTAINER },
      { hostPath: '/d', containerPath: '/d', propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL },
    ]
    const old = compute({ mounts }).HostConfig
    const colon = { Type: 'bind', Source: '/a:b', Target: '/a', ReadOnly: true, BindOptions: {} }
    assert.deepEqual([old['Binds'], old['Mounts']], [['/c:/c:rslave', '/d:/d:rshared'], [colon]])
    const { Binds: binds, Mounts: newer } = compute({ mounts }, { apiVersion: '1.42' }).HostConfig
    const options = (newer as { BindOptions: object }[]).map(({ BindOptions: given }) => given)
    assert.deepEqual(binds, [])
    assert.deepEqual(options, [
      { CreateMountpoint: true },
      { CreateMountpoint: true, Propagation: 'rslave' },
      { CreateMountpoint: true, Propagation: 'rshared' },
    ])
  })

  test('a read-only mount is recursive only where that is asked for and possible', () => {
    const mount = (recursiveReadOnly: boolean, apiVersion: string) =>
      compute({ mounts: [{ hostPath: '/a', containerPath: '/a', readonly: true, recursiveReadOnly }] }, { apiVersion })
        .HostConfig['Mounts'] as { BindOptions: object }[]
    const options = (recursive: boolean, version: string) => mount(recursive, version)[0]?.BindOptions
    assert.deepEqual(options(false, '1.44'), { CreateMountpoint: true, ReadOnlyNonRecursive: true })
    assert.deepEqual(options(true, '1.44'), { CreateMountpoint: true, ReadOnlyForceRecursive: true })
    assert.throws(() => options(true, '1.43'), /expected Docker Engine 25 or newer/)
  })

  test('devices, signals', () => {
    const devices = [{ hostPath: '/dev/null', containerPath: '/dev/zero', permissions: 'rw' }]
    assert.deepEqual(compute({ devices }).HostConfig['Devices'], [
      { PathOnHost: '/dev/null', PathInContainer: '/dev/zero', CgroupPermissions: 'rw' },
    ])
    assert.equal(compute({ stopSignal: Signal.SIGUSR1 }).StopSignal, 'SIGUSR1')
    assert.equal(compute({ stopSignal: Signal.SIGRTMINPLUS1 }).StopSignal, 'SIGRTMIN+1')
    assert.equal(compute({}).StopSignal, undefined)
    const cdi = { CDIDevices: [{ name: 'vendor.com/gpu=0' }] }
    assert.throws(() => compute(cdi), /CDI devices: expected Docker Engine 25/)
    assert.deepEqual(compute(cdi, { apiVersion: '1.44' }).HostConfig['DeviceRequests'], [
      { Driver: 'cdi', DeviceIDs: ['vendor.com/gpu=0'] },
    ])
  })

  test('refuses what Docker has not', () => {
    const mounts = [{ containerPath: '/a', image: { image: 'web:1' } }]
    assert.throws(() => compute({ mounts }), /Docker has no image volumes/)
    assert.throws(() => compute(secure({ supplementalGroupsPolicy: 1 })), /Strict/)
  })
})

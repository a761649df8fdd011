import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { NamespaceMode, PodSandboxConfig, Protocol } from '../../cri/generated/runtime-v1.ts'
import { computeSandbox } from './compute-sandbox.ts'
import type { SandboxSurroundings } from './compute-sandbox.ts'

const surroundings: SandboxSurroundings = {
  pauseImage: 'pause:1',
  cgroupDriver: 'cgroupfs',
  leastOomScore: -1000,
  ownNetwork: false,
  runtime: '',
}

interface HostConfig {
  readonly NetworkMode: string
  readonly IpcMode: string
  readonly PidMode: string
  readonly PortBindings: unknown
  readonly OomScoreAdj: number
  readonly Init: boolean
  readonly CgroupParent: string
  readonly Sysctls: unknown
  readonly SecurityOpt: readonly string[]
}

function compute(config: Parameters<typeof PodSandboxConfig.fromPartial>[0], more: Partial<SandboxSurroundings> = {}) {
  const complete = PodSandboxConfig.fromPartial({ hostname: 'web', ...config })
  return computeSandbox(complete, { ...surroundings, ...more }) as {
    Hostname: string
    Healthcheck: object
    HostConfig: HostConfig
  }
}

const withNamespaces = (namespaceOptions: object) => ({ linux: { securityContext: { namespaceOptions } } })

describe('computeSandbox()', () => {
  test('a usual pod gets a network of Docker and namespaces that its containers can join', () => {
    const { Hostname: hostname, HostConfig: host } = compute(withNamespaces({ pid: NamespaceMode.CONTAINER }))
    assert.deepEqual([hostname, host.NetworkMode, host.IpcMode, host.PidMode], ['web', 'default', 'shareable', ''])
    assert.equal(host.OomScoreAdj, -998)
    assert.ok(host.SecurityOpt.includes('no-new-privileges'))
  })

  test('the first process of a pod is its own: no health check of its image, no init of Docker', () => {
    const { Healthcheck: check, HostConfig: host } = compute({})
    assert.deepEqual([check, host.Init], [{ Test: ['NONE'] }, false])
  })

  test('namespaces of the node are those of Docker, and then there is no name of its own', () => {
    const { NODE } = NamespaceMode
    const { Hostname: hostname, HostConfig: host } = compute(withNamespaces({ network: NODE, pid: NODE, ipc: NODE }))
    assert.deepEqual([hostname, host.NetworkMode, host.IpcMode, host.PidMode], ['', 'host', 'host', 'host'])
  })

  test('publishes ports of the node, several for one port of the pod too, and only where Docker has the network', () => {
    const portMappings = [
      { protocol: Protocol.TCP, containerPort: 80, hostPort: 8080 },
      { protocol: Protocol.TCP, containerPort: 80, hostPort: 8081, hostIp: '127.0.0.1' },
      { protocol: Protocol.UDP, containerPort: 53, hostPort: 53 },
      { protocol: Protocol.TCP, containerPort: 9000 },
    ]
    assert.deepEqual(compute({ portMappings }).HostConfig.PortBindings, {
      '80/tcp': [
        { HostIp: '', HostPort: '8080' },
        { HostIp: '127.0.0.1', HostPort: '8081' },
      ],
      '53/udp': [{ HostIp: '', HostPort: '53' }],
    })
    const other = compute({ portMappings }, { ownNetwork: true }).HostConfig
    assert.deepEqual([other.NetworkMode, other.PortBindings], ['none', {}])
  })

  test('names the cgroup as the driver of Docker wants it', () => {
    const config = { linux: { cgroupParent: '/kubepods.slice/kubepods-podabc.slice' } }
    assert.equal(compute(config).HostConfig.CgroupParent, '/kubepods.slice/kubepods-podabc.slice')
    assert.equal(compute(config, { cgroupDriver: 'systemd' }).HostConfig.CgroupParent, 'kubepods-podabc.slice')
    assert.throws(
      () => compute({ linux: { cgroupParent: '/pods/x' } }, { cgroupDriver: 'systemd' }),
      /expected a slice/,
    )
  })

  test('asks for no lower oom score than the machine allows', () => {
    assert.equal(compute({}, { leastOomScore: 0 }).HostConfig.OomScoreAdj, 0)
  })

  test('refuses what Docker has not', () => {
    const usernsOptions = { mode: NamespaceMode.POD, uids: [], gids: [] }
    assert.throws(() => compute(withNamespaces({ usernsOptions })), /Docker has none for single pods/)
    assert.throws(() => compute({ linux: { securityContext: { supplementalGroupsPolicy: 1 } } }), /Strict/)
  })
})

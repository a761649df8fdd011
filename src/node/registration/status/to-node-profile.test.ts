import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEADER, loadSettings } from '../../../../test/fakes/load-settings.ts'
import { toNodeProfile } from './to-node-profile.ts'

test('toNodeProfile() carries on all that the configuration says about the node', async () => {
  const config = `${HEADER}
port: 11250
registerWithTaints: [{key: dedicated, value: x, effect: NoSchedule}]
enableControllerAttachDetach: false
nodeStatusMaxImages: 7
maxPods: 20
podsPerCore: 4
kubeReserved: {cpu: 100m, memory: 1Mi}
systemReserved: {cpu: 200m}
reservedSystemCPUs: 0-1
evictionHard: {memory.available: 1Mi}
localStorageCapacityIsolation: false
`
  const flags = ['--node-labels=zone=a', '--provider-id=cloud://1', '--cloud-provider=external', '--node-ip=FD00::0001']
  const profile = toNodeProfile(await loadSettings(['--config=/c', ...flags], { '/c': config }), {
    architecture: 'x64',
    runtime: undefined,
  })
  assert.deepEqual(profile, {
    nodeName: 'node-1',
    architecture: 'amd64',
    kubeletVersion: profile.kubeletVersion,
    kubeletPort: 11_250,
    labels: { zone: 'a' },
    taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' }],
    providerId: 'cloud://1',
    externalCloud: true,
    controllerAttachDetach: false,
    nodeIps: ['fd00::1'],
    maxImages: 7,
    declaredFeatures: [
      'ExtendWebSocketsToKubelet',
      'InPlacePodLevelResourcesVerticalScaling',
      'InPlacePodVerticalScalingInitContainers',
      'RestartAllContainersOnContainerExits',
    ],
    resources: {
      maxPods: 20,
      podsPerCore: 4,
      reserved: [{ memory: '1Mi' }, { cpu: '2' }],
      evictionHard: { 'memory.available': '1Mi' },
      localStorage: false,
    },
  })
})

test('toNodeProfile() declares no feature that is switched off, and leaves out eviction where that was asked for', async () => {
  const profile = async (...flags: string[]) =>
    toNodeProfile(await loadSettings(flags), { architecture: 'arm64', runtime: undefined })
  const gates =
    '--feature-gates=RestartAllContainersOnContainerExits=false,InPlacePodLevelResourcesVerticalScaling=false,InPlacePodVerticalScalingInitContainers=false'
  const { declaredFeatures, architecture } = await profile(gates)
  assert.deepEqual([declaredFeatures, architecture], [['ExtendWebSocketsToKubelet'], 'arm64'])
  const { resources } = await profile(
    '--experimental-allocatable-ignore-eviction',
    '--eviction-hard=memory.available<1Mi',
  )
  assert.deepEqual(resources.evictionHard, {})
})

test('toNodeProfile() declares users of their own in the network of the node only where gate and runtime have them', async () => {
  const settings = await loadSettings(['--feature-gates=UserNamespacesHostNetworkSupport=true'])
  const declares = (userNamespacesHostNetwork: boolean, given = settings) =>
    toNodeProfile(given, {
      architecture: 'x64',
      runtime: { supplementalGroupsPolicy: false, userNamespacesHostNetwork },
    }).declaredFeatures?.includes('UserNamespacesHostNetworkSupport')
  assert.deepEqual([declares(true), declares(false), declares(true, await loadSettings([]))], [true, false, false])
})

import type { Settings } from '../../../model/config/load-configuration.ts'
import type { RuntimeStatusReport } from '../../../protocols/cri/runtime-status.ts'
import { toCanonicalIp } from '../../../system/machine/canonical-ip.ts'
import type { NodeProfile } from './node-profile.ts'

/** What the node says that it can do; only what really works. The API takes it in alphabetical order alone. */
const DECLARED_FEATURES = [
  'ExtendWebSocketsToKubelet',
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
  'UserNamespacesHostNetworkSupport',
] as const

/** What the configuration means for the Node object. */
export function toNodeProfile(
  settings: Settings,
  { architecture, runtime }: { readonly architecture: string; readonly runtime?: RuntimeStatusReport['features'] },
): NodeProfile {
  const { config, flags, gates, reserved } = settings
  const isDeclared = (name: (typeof DECLARED_FEATURES)[number]) =>
    gates.enabled(name) && (name !== 'UserNamespacesHostNetworkSupport' || runtime?.userNamespacesHostNetwork === true)
  return {
    nodeName: settings.nodeName,
    architecture: toGoArchitecture(architecture),
    kubeletVersion: settings.version,
    kubeletPort: config.port,
    labels: flags.nodeLabels,
    taints: config.registerWithTaints.map(({ key, value, effect }) => ({ key, value, effect })),
    providerId: config.providerID,
    externalCloud: flags.cloudProvider === 'external',
    controllerAttachDetach: config.enableControllerAttachDetach,
    nodeIps: settings.nodeIps.map(toCanonicalIp),
    maxImages: config.nodeStatusMaxImages,
    declaredFeatures: gates.enabled('NodeDeclaredFeatures') ? DECLARED_FEATURES.filter(isDeclared) : undefined,
    resources: {
      maxPods: config.maxPods,
      podsPerCore: config.podsPerCore,
      reserved: [reserved.kube, reserved.system],
      evictionHard: flags.experimentalAllocatableIgnoreEviction ? {} : config.evictionHard,
      localStorage: config.localStorageCapacityIsolation,
    },
  }
}

// Node names little-endian PowerPC without saying so; Kubernetes knows no other.
const NAMES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' }

/** The architecture as Go names it, and with it all of Kubernetes. */
function toGoArchitecture(architecture: string): string {
  return NAMES[architecture] ?? architecture
}

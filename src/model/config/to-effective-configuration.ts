import { isIP } from 'node:net'
import { findDockerEndpoint } from './flags/docker-flags.ts'
import type { KubeletFlags } from './flags/kubelet-flags.ts'
import type { FeatureGates } from './gates/feature-gates.ts'
import { CONFIGURATION, type GivenConfiguration, type KubeletConfiguration } from './kubelet-configuration.ts'

/** What the configuration depends on of the machine. */
export interface Machine {
  readonly hostname: string
  readonly cgroupVersion: 1 | 2
  readonly onlineCpus: readonly number[]
}

// More only make a small node slower: they share its disk and its network.
const PARALLEL_IMAGE_PULLS = 4
const RESTART_PERIOD_MS = 300_000
const REDUCED_RESTART_PERIOD_MS = 60_000
const IDS_PER_POD = 65_536

/** Fills in what depends on other settings or on the machine. */
export function toEffectiveConfiguration(
  given: GivenConfiguration,
  flags: Pick<KubeletFlags, 'kubeconfig' | 'seccompDefault' | 'containerRuntime' | 'dockerEndpoint'>,
  { gates, machine }: { readonly gates: FeatureGates; readonly machine: Pick<Machine, 'cgroupVersion'> },
): KubeletConfiguration {
  const { webhook } = given.authentication
  const verifies = gates.enabled('KubeletEnsureSecretPulledImages')
  const restartPeriodMs = gates.enabled('ReduceDefaultCrashLoopBackOffDecay')
    ? REDUCED_RESTART_PERIOD_MS
    : RESTART_PERIOD_MS
  return {
    ...given,
    // Without an API server there is no review: then tokens are refused unless asking was asked for, which is an error.
    authentication: {
      ...given.authentication,
      webhook: { ...webhook, enabled: webhook.enabled ?? flags.kubeconfig !== '' },
    },
    authorization: { ...given.authorization, mode: given.authorization.mode ?? 'Webhook' },
    clusterDNS: given.clusterDNS.filter((address) => isIP(address) !== 0),
    containerRuntimeEndpoint: toRuntimeEndpoint(given, flags),
    crashLoopBackOff: {
      maxContainerRestartPeriod: given.crashLoopBackOff.maxContainerRestartPeriod ?? restartPeriodMs,
    },
    evictionHard: given.evictionHard ?? {},
    imagePullCredentialsVerificationPolicy:
      given.imagePullCredentialsVerificationPolicy ?? (verifies ? 'NeverVerifyPreloadedImages' : undefined),
    maxParallelImagePulls: given.maxParallelImagePulls ?? (given.serializeImagePulls ? 1 : PARALLEL_IMAGE_PULLS),
    seccompDefault: given.seccompDefault || flags.seccompDefault,
    singleProcessOOMKill: given.singleProcessOOMKill ?? machine.cgroupVersion === 1,
    userNamespaces: given.userNamespaces ?? { idsPerPod: IDS_PER_POD },
  }
}

/** Flags of Docker name the socket as long as nothing else does. */
function toRuntimeEndpoint(
  { containerRuntimeEndpoint: endpoint }: GivenConfiguration,
  flags: Pick<KubeletFlags, 'containerRuntime' | 'dockerEndpoint'>,
): string {
  const isSet = endpoint !== CONFIGURATION.unset.containerRuntimeEndpoint
  return isSet ? endpoint : (findDockerEndpoint(flags) ?? endpoint)
}

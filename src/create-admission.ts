import { computeAdmission } from './admission/compute-admission.ts'
import { computeSafeSysctls } from './admission/compute-safe-sysctls.ts'
import type { Rejection } from './admission/rejection.ts'
import type { Settings } from './config/load-configuration.ts'
import type { PodCapability } from './containers/unsupported-fields.ts'
import type { KernelFacts } from './host/read-kernel.ts'
import type { Pod } from './model/pod.ts'
import type { RuntimeFeatures } from './model/runtime-features.ts'

export interface AdmissionDeps {
  readonly settings: Pick<Settings, 'gates'> & { readonly config: Pick<Settings['config'], 'allowedUnsafeSysctls'> }
  readonly kernel: KernelFacts
  /** What the runtime can do now. */
  readonly features: () => RuntimeFeatures
}

/** The two questions before a pod gets a worker: can its spec be honoured, and may it run here? */
export function createAdmission({ settings, kernel, features }: AdmissionDeps) {
  const allowedSysctls = [...computeSafeSysctls(kernel.release), ...settings.config.allowedUnsafeSysctls]
  return {
    capabilities(): ReadonlySet<PodCapability> {
      const { handlers, imageVolumes } = features()
      return new Set<PodCapability>([
        ...(settings.gates.enabled('ContainerStopSignals') ? (['stopSignals'] as const) : []),
        ...(handlers.get('')?.userNamespaces === true ? (['userNamespaces'] as const) : []),
        ...(imageVolumes === 'none' ? [] : (['imageVolumes'] as const)),
        ...(imageVolumes === 'parts' ? (['imageSubPaths'] as const) : []),
      ])
    },

    admit(pod: Pod): Rejection | undefined {
      const { supplementalGroupsPolicy } = features()
      return computeAdmission(pod, { allowedSysctls, supplementalGroupsPolicy, appArmor: kernel.appArmor })
    },
  }
}

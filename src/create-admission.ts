import { computeAppArmorRejection } from './admission/compute-app-armor-rejection.ts'
import { computeGroupsPolicyRejection } from './admission/compute-groups-policy-rejection.ts'
import { computeSafeSysctls } from './admission/compute-safe-sysctls.ts'
import { computeSysctlRejection } from './admission/compute-sysctl-rejection.ts'
import type { Rejection } from './admission/rejection.ts'
import { listCapabilities } from './create-node-admission.ts'
import type { NodeAdmissionDeps } from './create-node-admission.ts'
import type { Pod } from './model/pod.ts'

/** The two questions before a pod gets a worker, for an agent that does not know its node: createNodeAdmission() takes its place. */
export function createAdmission(deps: Pick<NodeAdmissionDeps, 'settings' | 'kernel' | 'features'>) {
  const { settings, kernel } = deps
  const allowed = [...computeSafeSysctls(kernel.release), ...settings.config.allowedUnsafeSysctls]
  return {
    capabilities: () => listCapabilities(deps),
    admit: (pod: Pod): Rejection | undefined =>
      computeSysctlRejection(pod, allowed) ??
      computeGroupsPolicyRejection(pod, deps.features()) ??
      computeAppArmorRejection(pod, kernel),
  }
}

import { findKernelDifferences, writeKernelSetting } from './kernel-settings.ts'
import type { MachineInfo } from './read-machine.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

export interface KernelSettingsDeps {
  readonly settings: {
    readonly config: { readonly protectKernelDefaults: boolean }
    readonly gates: { enabled(gate: 'KubeletInUserNamespace'): boolean }
  }
  readonly machine: Pick<MachineInfo, 'inUserNamespace'>
  readonly log: Logger
}

/**
 * Sets the kernel's settings to what a node needs. Where they are protected a difference is a reason not to start; elsewhere one that
 * cannot be changed is logged, and the agent goes on: a node without it is worse than one with a missing setting.
 */
export function applyKernelSettings({ settings, machine, log }: KernelSettingsDeps, root?: string): void {
  const differences = findKernelDifferences(root)
  if (settings.config.protectKernelDefaults && differences.length > 0) {
    const each = differences.map(({ name, wanted, found }) => `${name} is ${found ?? 'not there'}, expected ${wanted}`)
    throw new Error(
      `Cannot run with this kernel, its settings are protected (protectKernelDefaults): ${each.join('; ')}`,
    )
  }
  // Root may not change them there.
  const isExpected = settings.gates.enabled('KubeletInUserNamespace') && machine.inUserNamespace
  for (const difference of differences) {
    const problem = writeKernelSetting(difference, root)
    if (problem === undefined) log.info('kernel setting changed', { ...difference })
    else if (isExpected)
      log.info('cannot change a kernel setting in a user namespace, going on', { ...difference, problem })
    else log.warn('cannot change a kernel setting', { ...difference, problem })
  }
}

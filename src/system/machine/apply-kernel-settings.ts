import { findKernelDifferences, writeKernelSetting } from './kernel-settings.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

/**
 * Sets the kernel's settings to what a node needs. Where they are protected a difference is a reason not to start; elsewhere one that
 * cannot be changed is logged, and the agent goes on: a node without it is worse than one with a missing setting. Expected: the agent runs where
 * root may not change them.
 */
export function applyKernelSettings(
  {
    isProtected,
    isExpected,
    log,
  }: { readonly isProtected: boolean; readonly isExpected: boolean; readonly log: Logger },
  root?: string,
): void {
  const differences = findKernelDifferences(root)
  if (isProtected && differences.length > 0) {
    const each = differences.map(({ name, wanted, found }) => `${name} is ${found ?? 'not there'}, expected ${wanted}`)
    throw new Error(
      `Cannot run with this kernel, its settings are protected (protectKernelDefaults): ${each.join('; ')}`,
    )
  }
  for (const difference of differences) {
    const problem = writeKernelSetting(difference, root)
    if (problem === undefined) log.info('kernel setting changed', { ...difference })
    else if (isExpected)
      log.info('cannot change a kernel setting in a user namespace, going on', { ...difference, problem })
    else log.warn('cannot change a kernel setting', { ...difference, problem })
  }
}

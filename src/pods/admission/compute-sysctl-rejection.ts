import type { Pod } from '../../model/pod/pod.ts'
import { normalSysctlName } from '../../model/pod/sysctl-name.ts'
import type { Rejection } from './rejection.ts'

/** Rejects a pod that sets a sysctl which is not on the list, or one of a namespace that it shares with the node. */
export function computeSysctlRejection({ spec }: Pod, allowed: readonly string[]): Rejection | undefined {
  const allows = (name: string) => allowed.some((pattern) => matches(normalSysctlName(pattern), name))
  for (const sysctl of spec.securityContext?.sysctls ?? []) {
    const name = normalSysctlName(sysctl.name)
    if (!allows(name)) return forbid(name, 'not allowlisted')
    if (isOfNetwork(name) && spec.hostNetwork === true) return forbid(name, 'not allowed with host Net enabled')
    if (!isOfNetwork(name) && spec.hostIPC === true) return forbid(name, 'not allowed with host IPC enabled')
  }
  return undefined
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** All others that can be on the list belong to the IPC namespace: the configuration takes nothing else. */
function isOfNetwork(name: string): boolean {
  return name.startsWith('net.')
}

function forbid(name: string, why: string): Rejection {
  return { reason: 'SysctlForbidden', message: `forbidden sysctl: "${name}" ${why}` }
}

import { NamespaceMode } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { NamespaceOption, UserNamespace } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { UserNamespaceMapping } from '../../../model/pod/user-namespace.ts'
import { SandboxConfigError } from '../pod-config-error.ts'

/** Which namespaces a pod has for itself and which it shares with the node. */
export function computeNamespaceOptions(pod: Pod, mapping: UserNamespaceMapping | undefined): NamespaceOption {
  const { hostNetwork, hostIPC } = pod.spec
  return {
    network: hostNetwork === true ? NamespaceMode.NODE : NamespaceMode.POD,
    ipc: hostIPC === true ? NamespaceMode.NODE : NamespaceMode.POD,
    pid: computePidMode(pod),
    targetId: '',
    usernsOptions: computeUserNamespace(pod, mapping),
  }
}

function computePidMode({ spec }: Pod): NamespaceMode {
  if (spec.hostPID === true) return NamespaceMode.NODE
  return spec.shareProcessNamespace === true ? NamespaceMode.POD : NamespaceMode.CONTAINER
}

function computeUserNamespace(pod: Pod, mapping: UserNamespaceMapping | undefined): UserNamespace {
  if (pod.spec.hostUsers !== false) return { mode: NamespaceMode.NODE, uids: [], gids: [] }
  if (mapping === undefined) {
    throw new SandboxConfigError(
      `Cannot give pod "${pod.metadata.name}" a user namespace: no range of users is set aside for it`,
    )
  }
  return { mode: NamespaceMode.POD, uids: mapping.uids, gids: mapping.gids }
}
